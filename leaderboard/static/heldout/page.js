// Small comforts on every page: copy buttons, times in the reader's zone, a question before what can't be undone.
"use strict";
(() => {
  const localise = (root) => {
    for (const time of root.querySelectorAll("time[data-local]")) {
      const at = new Date(time.dateTime);
      if (!Number.isNaN(at.valueOf())) {
        time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
        time.title = at.toISOString();
      }
    }
  };

  const copy = async (button) => {
    const text = button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.ask;
    if (question && !window.confirm(question)) event.preventDefault();
  });
  document.addEventListener("DOMContentLoaded", () => localise(document));
  document.addEventListener("htmx:afterSwap", (event) => localise(event.target));
})();
