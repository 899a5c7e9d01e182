// Scrolls the history of a state key to the write of the value that is shown.
import { connectOnce } from "../shell/behaviors.js";

export function connect(root) {
  connectOnce(root, "[data-current-write]", (write) => {
    const list = write.parentElement;
    list.scrollTop = write.offsetTop - Math.max(list.clientHeight - write.clientHeight, 0) / 2;
  });
}
