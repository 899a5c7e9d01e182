// The history of a state key opens with the write of the value that is shown in sight.
import { each } from "./connected.js";

export function connect(root) {
  each(root, "[data-here]", (write) => {
    const list = write.parentElement;
    list.scrollTop = write.offsetTop - Math.max(list.clientHeight - write.clientHeight, 0) / 2;
  });
}
