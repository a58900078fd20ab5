// Light, dark or as the system says; remembered on this device. Runs before the page is painted.
"use strict";
(() => {
  const order = ["auto", "light", "dark"];
  const read = () => { try { return localStorage.getItem("theme") || "auto"; } catch { return "auto"; } };
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) {
      button.title = `Colours: ${theme}. Press to change.`;
      button.setAttribute("aria-label", button.title);
    }
  };
  document.documentElement.classList.add("scripted");
  show(read());
  document.addEventListener("DOMContentLoaded", () => {
    show(read());
    document.getElementById("theme")?.addEventListener("click", () => {
      const next = order[(order.indexOf(read()) + 1) % order.length];
      try { localStorage.setItem("theme", next); } catch { /* private window: for this page only */ }
      show(next);
    });
  });
})();
