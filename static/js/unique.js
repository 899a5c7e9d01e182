// A row or message that comes twice, as after a reconnection, is shown once.
import { each } from "./connected.js";

export function connect(root) {
  each(root, "#rows, #messages", (list) => {
    new MutationObserver((changes) => {
      for (const change of changes) change.addedNodes.forEach((node) => node.id && single(list, node));
    }).observe(list, { childList: true });
  });
}

function single(list, node) {
  const same = list.querySelectorAll(`:scope > [id="${CSS.escape(node.id)}"]`);
  if (same.length < 2) return;
  const surplus = [...same].find((element) => element.hasAttribute("data-continued")) ?? node;
  surplus.remove();
}
