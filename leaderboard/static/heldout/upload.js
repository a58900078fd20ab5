// Uploads a folder file by file over tus 1.0, in parts; pauses, goes on, and continues an upload from another day.
"use strict";
(() => {
  const form = document.getElementById("upload") || document.getElementById("resume");
  if (!form) return;
  const byId = (id) => document.getElementById(id);
  const folder = byId("folder");
  const list = byId("files");
  const trouble = byId("trouble");
  const part = Number(form.dataset.part);
  const token = form.elements.csrfmiddlewaretoken.value;
  const TUS = { "Tus-Resumable": "1.0.0", "X-CSRFToken": token };
  let entries = [];
  let paused = false;
  let wake = null;
  let current = null;
  let sending = false;

  const size = (count) => {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; count >= 1024 && unit < units.length - 1; unit += 1) count /= 1024;
    return unit === 0 ? `${count} bytes` : `${count.toFixed(1)} ${units[unit]}`;
  };
  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const complain = (text) => { trouble.textContent = text; trouble.hidden = !text; };
  const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });

  class Refusal extends Error {}

  const ask = async (url, options = {}) => {
    const answer = await fetch(url, { credentials: "same-origin", ...options });
    const body = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
    if (!answer.ok && answer.status < 500) {
      const findings = body?.findings?.map((f) => `${f.where}: ${f.problem} ${f.remedy}`).join("\n");
      throw new Refusal(findings || body?.detail || `The server answered ${answer.status}.`);
    }
    if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
    return { answer, body };
  };
  const post = (url, value) => ask(url, {
    method: "POST", headers: { "Content-Type": "application/json", "X-CSRFToken": token }, body: JSON.stringify(value),
  });

  // Reading a folder: from the chooser, or dropped.
  const fromChooser = () => [...folder.files].map((file) => ({
    file, name: file.webkitRelativePath.split("/").slice(1).join("/") || file.name,
  }));
  const readAll = async (directory) => {
    const reader = directory.createReader();
    const found = [];
    for (;;) {
      const batch = await new Promise((yes, no) => { reader.readEntries(yes, no); });
      if (!batch.length) return found;
      found.push(...batch);
    }
  };
  const walk = async (entry, prefix, found) => {
    if (entry.isFile) {
      const file = await new Promise((yes, no) => { entry.file(yes, no); });
      found.push({ file, name: prefix + entry.name });
      return;
    }
    for (const child of await readAll(entry)) await walk(child, `${prefix}${entry.name}/`, found);
  };
  const fromDrop = async (items) => {
    const roots = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const found = [];
    if (roots.length === 1 && roots[0].isDirectory) {
      for (const child of await readAll(roots[0])) await walk(child, "", found);
      suggest(roots[0].name);
    } else {
      for (const root of roots) await walk(root, "", found);
    }
    return found;
  };
  const suggest = (name) => {
    if (form.elements.name && !form.elements.name.value) form.elements.name.value = name;
  };

  // The list of files, each with its bar.
  const show = () => {
    list.replaceChildren(...entries.map((entry) => {
      const row = element("li");
      entry.mark = element("span", "soft", entry.why ? "–" : "○");
      entry.mark.setAttribute("aria-hidden", "true");
      entry.count = element("span", "soft number", entry.why ? "left out" : size(entry.file.size));
      row.append(entry.mark, element("span", "name", entry.name), entry.count);
      if (entry.why) {
        row.append(element("span", "why", entry.why));
      } else {
        entry.bar = element("progress");
        entry.bar.max = Math.max(entry.file.size, 1);
        entry.bar.value = 0;
        entry.bar.setAttribute("aria-label", entry.name);
        row.append(entry.bar);
      }
      return row;
    }));
    list.hidden = entries.length === 0;
  };
  const wanted = () => entries.filter((entry) => !entry.why);
  const progress = () => {
    const all = wanted();
    const sum = all.reduce((count, entry) => count + entry.file.size, 0);
    const sent = all.reduce((count, entry) => count + (entry.sent || 0), 0);
    byId("total-bar").max = Math.max(sum, 1);
    byId("total-bar").value = sent;
    byId("total-text").textContent = `${size(sent)} of ${size(sum)}${paused ? ", paused" : ""}`;
  };
  const sentOf = (entry, count) => {
    entry.sent = count;
    entry.bar.value = entry.file.size ? count : 1;
    const done = count === entry.file.size;
    entry.mark.textContent = done ? "✓" : "◐";
    entry.mark.className = done ? "done" : "soft";
    entry.count.textContent = done ? size(entry.file.size) : `${size(count)} of ${size(entry.file.size)}`;
    progress();
  };

  // What can't pass by its name alone is left out, and the list says why.
  const judge = async (found) => {
    found.sort((a, b) => (a.name < b.name ? -1 : 1));
    const { body } = await post(form.dataset.names, { names: found.map((entry) => entry.name) });
    for (const entry of found) {
      entry.why = (body.names[entry.name] || []).map((f) => `${f.problem} ${f.remedy}`).join(" ");
    }
  };
  const choose = async (found) => {
    complain("");
    try {
      await judge(found);
    } catch (error) {
      complain(error.message);
    }
    entries = found;
    show();
    byId("send").disabled = wanted().length === 0;
  };

  // Sending.
  const waitWhilePaused = async () => {
    while (paused) await new Promise((done) => { wake = done; });
  };
  const sendPart = (entry, at) => new Promise((yes, no) => {
    const request = new XMLHttpRequest();
    current = request;
    request.open("PATCH", entry.location);
    for (const [name, value] of Object.entries(TUS)) request.setRequestHeader(name, value);
    request.setRequestHeader("Upload-Offset", String(at));
    request.setRequestHeader("Content-Type", "application/offset+octet-stream");
    request.upload.onprogress = (event) => sentOf(entry, Math.min(at + event.loaded, entry.file.size));
    request.onload = () => {
      const reached = request.getResponseHeader("Upload-Offset");
      if (reached !== null && (request.status === 204 || request.status === 409)) return yes(Number(reached));
      if (request.status >= 400 && request.status < 500) return no(new Refusal(reason(request)));
      return no(new Error(`The server answered ${request.status}.`));
    };
    request.onerror = () => no(new Error("The connection broke."));
    request.onabort = () => no(new Error("Paused."));
    request.send(entry.file.slice(at, at + part));
  });
  const reason = (request) => {
    try { return JSON.parse(request.responseText).detail; } catch { return `The server answered ${request.status}.`; }
  };
  const offset = async (entry) => {
    const { answer } = await ask(entry.location, { method: "HEAD", headers: TUS });
    return Number(answer.headers.get("Upload-Offset"));
  };
  const sendFile = async (entry) => {
    let at = await offset(entry);
    let wait = 1000;
    sentOf(entry, at);
    while (at < entry.file.size) {
      await waitWhilePaused();
      try {
        at = await sendPart(entry, at);
        wait = 1000;
        complain("");
      } catch (error) {
        if (error instanceof Refusal) throw error;
        if (!paused) {
          complain(`${error.message} Trying again.`);
          await sleep(wait);
          wait = Math.min(wait * 2, 30000);
        }
        at = await offset(entry).catch(() => at);
      }
      sentOf(entry, at);
    }
  };
  const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  const create = async (entry, url) => {
    const headers = { ...TUS, "Upload-Length": String(entry.file.size), "Upload-Metadata": `filename ${base64(entry.name)}` };
    const { answer } = await ask(url, { method: "POST", headers });
    entry.location = answer.headers.get("Location");
  };
  const busy = (on) => {
    sending = on;
    byId("total").hidden = false;
    for (const control of form.elements) if (control.id !== "pause") control.disabled = on;
  };
  const run = async (prepare) => {
    busy(true);
    complain("");
    try {
      const upload = await prepare();
      for (const entry of wanted()) await sendFile(entry);
      await post(`/api/uploads/${upload.id}/close`, {});
      sending = false;
      window.location.assign(upload.page);
    } catch (error) {
      complain(error.message);
      busy(false);
    }
  };

  const fresh = async () => {
    const fields = Object.fromEntries(["name", "team", "base_model", "training_data", "notes"].map(
      (name) => [name, form.elements[name]?.value || ""],
    ));
    const { body } = await post(form.dataset.api, fields);
    window.history.replaceState(null, "", body.page);
    for (const entry of wanted()) await create(entry, body.create);
    return body;
  };
  const again = async () => {
    const { body } = await ask(form.dataset.api);
    const known = new Map(body.files.map((file) => [file.name, file]));
    const found = fromChooser();
    await judge(found);
    const missing = [...known.keys()].filter((name) => !found.some((entry) => entry.name === name));
    if (missing.length) throw new Refusal(`This folder lacks ${missing.join(", ")}.`);
    for (const entry of found) {
      const file = known.get(entry.name);
      if (file && file.size !== entry.file.size) throw new Refusal(`${entry.name} has another size than before.`);
      entry.location = file?.location;
    }
    entries = found;
    show();
    for (const entry of wanted()) if (!entry.location) await create(entry, body.create);
    return body;
  };

  byId("pause").addEventListener("click", () => {
    paused = !paused;
    byId("pause").textContent = paused ? "Go on" : "Pause";
    if (paused) current?.abort();
    else wake?.();
    progress();
  });
  window.addEventListener("beforeunload", (event) => { if (sending) event.preventDefault(); });

  if (form.id === "resume") {
    folder.addEventListener("change", () => run(again));
    return;
  }
  folder.addEventListener("change", () => {
    suggest(folder.files[0]?.webkitRelativePath.split("/")[0] || "");
    choose(fromChooser());
  });
  const drop = byId("drop");
  for (const kind of ["dragover", "dragenter"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    choose(await fromDrop(event.dataTransfer.items));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.elements.name.value.trim()) {
      complain("The checkpoint needs a name.");
      form.elements.name.focus();
      return;
    }
    run(fresh);
  });
})();
