// Back and forward: where they lead to another event or tab of the same moment, only what a choice brings is fetched.
// The rest of the page stays, with what was typed there.
const CHOSEN = ["event", "tab", "hits", "with", "key", "path", "since", "fork"];
let shown = location.href;

export function start() {
  document.addEventListener("htmx:after:history:update", () => { shown = location.href; });
  document.addEventListener("htmx:before:history:restore", (event) => {
    const same = place(shown) === place(location.href) && document.getElementById("inspector");
    shown = location.href;
    if (!same) return;
    event.preventDefault();
    const path = event.detail.path;
    window.htmx.ajax("GET", path, { source: "#inspector", target: "#inspector", swap: "innerMorph", replace: path });
  });
  // An answer that comes once the next step has been taken would write its address over that of where the reader is now.
  document.addEventListener("htmx:before:swap", (event) => {
    const { sourceElement, replace } = event.detail.ctx;
    if (sourceElement?.id === "inspector" && replace && whole(replace) !== whole(location.href)) event.preventDefault();
  });
}

function whole(address) {
  const url = new URL(address, location.href);
  return url.pathname + url.search;
}

function place(address) {
  const url = new URL(address);
  CHOSEN.forEach((name) => url.searchParams.delete(name));
  return url.pathname + url.search;
}
