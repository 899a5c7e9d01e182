// A file that is no picture, or was deleted since the page was made, has no thumbnail; its chip stays.
export function start() {
  document.addEventListener("error", ({ target }) => target.closest?.(".thumbnail")?.remove(), true);
}
