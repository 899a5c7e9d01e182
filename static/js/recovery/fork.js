// The form for a fork: `f` opens it for the focused row and moves the focus to its first field.
import { connectOnce } from "../shell/behaviors.js";
import * as rows from "../timeline/rows.js";

export function open() {
  const number = rows.current();
  document.querySelector(`#e-${number} .fork-here`)?.click();
}

export function connect(root) {
  connectOnce(root, "[data-fork-form]", (form) => {
    form.querySelector("input:checked").focus({ preventScroll: true });
    const show = () => form.querySelector("form").scrollIntoView({ block: "nearest" }); // the fold has no box
    form.addEventListener("change", show);
    show();
  });
}
