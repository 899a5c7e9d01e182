// Removes the thumbnails of files that aren't pictures or were deleted since the page was rendered. Their chips stay.
import { connectOnce } from "../shell/behaviors.js";

export function start() {
  document.addEventListener("error", ({ target }) => target.closest?.(".thumbnail")?.remove(), true);
}

// Covers pictures that failed before this script listened.
export function connect(root) {
  connectOnce(root, ".thumbnail img", (picture) => {
    if (picture.complete && !picture.naturalWidth) picture.closest(".thumbnail").remove();
  });
}
