// A file that is no picture, or was deleted since the page was made, has no thumbnail; its chip stays.
import { each } from "../shell/behaviours.js";

export function start() {
  document.addEventListener("error", ({ target }) => target.closest?.(".thumbnail")?.remove(), true);
}

// Those whose picture failed before this script listened.
export function connect(root) {
  each(root, ".thumbnail img", (picture) => {
    if (picture.complete && !picture.naturalWidth) picture.closest(".thumbnail").remove();
  });
}
