// What comes twice is shown once, at its first place: a row after a reconnection, the header of an invocation
// whose earlier events were fetched.
import { each } from "./connected.js";

export function connect(root) {
  each(root, "#rows, #messages", (list) => {
    new MutationObserver((changes) => {
      for (const change of changes) change.addedNodes.forEach((node) => node.id && single(list, node));
    }).observe(list, { childList: true });
  });
}

function single(list, node) {
  const [, ...surplus] = list.querySelectorAll(`:scope > #${CSS.escape(node.id)}`);
  surplus.forEach((element) => element.remove());
}
