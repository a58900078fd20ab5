// The run page, live: an event stream, and polling where no stream comes through.
"use strict";
(() => {
  const page = document.querySelector("[data-events]");
  if (!page || page.dataset.final === "yes") return;
  const state = document.getElementById("run-state");
  const list = document.getElementById("practice");
  const count = document.getElementById("practice-count");
  let after = Number(page.dataset.after);
  let stream = null;
  let timer = null;
  let quiet = null;

  const showState = (html) => { state.innerHTML = html; };
  const showItem = (html) => {
    document.getElementById("practice-empty")?.remove();
    document.getElementById("practice-panel").hidden = false;
    list.insertAdjacentHTML("beforeend", html);
    after += 1;
    count.textContent = String(after);
  };
  const finish = () => {
    stream?.close();
    clearTimeout(timer);
    clearTimeout(quiet);
    page.dataset.final = "yes";
    document.getElementById("cancel")?.remove();
  };

  const poll = async () => {
    try {
      const answer = await fetch(`${page.dataset.poll}?after=${after}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const news = await answer.json();
      showState(news.state);
      news.practice.forEach(showItem);
      if (news.final) return finish();
    } catch { /* the server is away; ask again */ }
    timer = setTimeout(poll, 3000);
  };
  const fallBack = () => {
    stream?.close();
    page.dataset.live = "poll";
    if (timer === null) poll();
  };

  if (!("EventSource" in window)) return fallBack();
  stream = new EventSource(`${page.dataset.events}?after=${after}`);
  quiet = setTimeout(fallBack, 8000);
  stream.addEventListener("state", (event) => {
    clearTimeout(quiet);
    page.dataset.live = "stream";
    showState(event.data);
  });
  stream.addEventListener("practice", (event) => {
    if (Number(event.lastEventId) > after) showItem(event.data);
  });
  stream.addEventListener("end", finish);
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) fallBack();
  });
})();
