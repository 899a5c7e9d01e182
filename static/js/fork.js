// The form for a fork: `f` opens it for the row of the focus, and its first field gets the focus.
import { each } from "./connected.js";
import * as rows from "./rows.js";

export function open() {
  const number = rows.current();
  document.querySelector(`#e-${number} .fork-here`)?.click();
}

export function connect(root) {
  each(root, "[data-fork-open]", (form) => {
    form.querySelector("input:checked").focus({ preventScroll: true });
    const show = () => form.scrollIntoView({ block: "nearest" });
    form.addEventListener("change", show);
    show();
  });
}
