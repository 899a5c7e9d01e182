// Runs before the first paint: restores the sizes of the panes, whether calls and results are apart, and the pane that narrow pages show.
// A classic script, because modules run after the first paint.
for (const pane of ["chat", "inspector"]) {
  const size = localStorage.getItem(`size:${pane}`);
  if (size) document.documentElement.style.setProperty(`--${pane}`, size);
}
if (localStorage.getItem("apart")) document.documentElement.dataset.apart = "";
const query = new URLSearchParams(location.search);
const linked = query.has("event") ? "inspector" : query.has("view") ? "timeline" : query.has("tab") ? "inspector" : null;
// Reloading a session, or moving to another of its events, keeps its pane; a session opened from elsewhere starts with the chat.
const isOpened = performance.getEntriesByType("navigation")[0]?.type === "navigate" && document.referrer.split("?")[0] !== location.origin + location.pathname;
document.documentElement.dataset.pane = linked ?? (isOpened ? null : sessionStorage.getItem("pane")) ?? "chat";
