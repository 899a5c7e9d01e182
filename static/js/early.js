// Before the first paint: the sizes of the panes as they were left, and the pane that narrow pages show.
// A classic script, because modules run after the page has been painted.
for (const pane of ["chat", "inspector"]) {
  const size = localStorage.getItem(`size:${pane}`);
  if (size) document.documentElement.style.setProperty(`--${pane}`, size);
}
const asked = new URLSearchParams(location.search).has("event") ? "inspector" : null;
document.documentElement.dataset.pane = asked ?? sessionStorage.getItem("pane") ?? "chat";
