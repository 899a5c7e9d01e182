// Before the first paint: restores the sizes of the panes, whether calls and results are apart, and the pane that narrow pages show.
// A classic script, because modules run after the first paint.
for (const pane of ["chat", "inspector"]) {
  const size = localStorage.getItem(`size:${pane}`);
  if (size) document.documentElement.style.setProperty(`--${pane}`, size);
}
if (localStorage.getItem("apart")) document.documentElement.dataset.apart = "";
const linked = new URLSearchParams(location.search).has("event") ? "inspector" : null;
document.documentElement.dataset.pane = linked ?? sessionStorage.getItem("pane") ?? "chat";
