"use strict";
(function () {
  // Colours: as the system has them, light, dark, and round again.
  const names = ["auto", "light", "dark"];
  const root = document.documentElement;
  const button = document.getElementById("theme");
  function remembered() {
    try { return localStorage.getItem("eigenfeat-theme"); } catch (refused) { return null; }
  }
  function paint(name) {
    if (name === "auto") root.removeAttribute("data-theme"); else root.setAttribute("data-theme", name);
    button.querySelector("span").textContent = name;
    const words = name === "auto" ? "as the system has them" : name;
    button.setAttribute("aria-label", "Colours: " + words + ". Change");
    try { localStorage.setItem("eigenfeat-theme", name); } catch (refused) { /* a page on disk may not remember */ }
  }
  let theme = names.includes(remembered()) ? remembered() : "auto";
  paint(theme);
  button.addEventListener("click", function () {
    theme = names[(names.indexOf(theme) + 1) % names.length];
    paint(theme);
  });

  // The cells of a matrix of classes show the panel of their pair.
  const box = document.getElementById("pairs");
  if (!box) return;
  const cells = Array.from(document.querySelectorAll("button.cell"));
  function choose(key) {
    for (const panel of box.children) panel.hidden = panel.dataset.pair !== key;
    for (const cell of cells) cell.setAttribute("aria-pressed", String(cell.dataset.pair === key));
  }
  const first = box.querySelector(".pair:not([hidden])");
  if (first) choose(first.dataset.pair);
  const rows = Array.from(document.querySelectorAll("table.matrix tbody tr"), function (row) {
    return Array.from(row.querySelectorAll("button.cell"));
  });
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  rows.forEach(function (row, i) {
    row.forEach(function (cell, j) {
      cell.tabIndex = i + j ? -1 : 0; // one stop for Tab, arrows inside
      cell.addEventListener("focus", function () {
        for (const other of cells) other.tabIndex = other === cell ? 0 : -1;
      });
      cell.addEventListener("keydown", function (event) {
        const step = steps[event.key];
        const to = step && rows[i + step[0]] && rows[i + step[0]][j + step[1]];
        if (to) { event.preventDefault(); to.focus(); }
      });
      cell.addEventListener("click", function () {
        const panel = document.getElementById("pair-" + cell.dataset.pair);
        if (!panel) return;
        choose(cell.dataset.pair);
        if (panel.getBoundingClientRect().top > window.innerHeight * 0.8) {
          panel.scrollIntoView({ block: "start", behavior: "smooth" });
        }
      });
    });
  });
})();
