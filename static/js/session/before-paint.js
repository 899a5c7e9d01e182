// Before the first paint: restores the sizes of the panes, whether calls and results are apart, and the pane that narrow pages show.
// A classic script, because modules run after the first paint.
for (const pane of ["chat", "inspector"]) {
  const size = localStorage.getItem(`size:${pane}`);
  if (size) document.documentElement.style.setProperty(`--${pane}`, size);
}
if (localStorage.getItem("apart")) document.documentElement.dataset.apart = "";
const query = new URLSearchParams(location.search);
const linked = query.has("event") ? "inspector" : query.has("view") ? "timeline" : null;
document.documentElement.dataset.pane = linked ?? sessionStorage.getItem("pane") ?? "chat";
