// The link to earlier events is followed when it comes near; what is being read stays where it is.
import { each } from "./connected.js";

const places = new WeakMap();

export function start() {
  document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
    if (!ctx.sourceElement?.matches?.("[data-earlier]")) return;
    const boxes = [...document.querySelectorAll("[data-tail]")];
    places.set(ctx, boxes.map((box) => [box, box.scrollHeight - box.scrollTop]));
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    for (const [box, below] of places.get(ctx) ?? []) box.scrollTop = box.scrollHeight - below;
  });
}

export function connect(root) {
  each(root, "[data-earlier]", (link) => {
    const options = { root: link.closest(".scroller"), rootMargin: "600px 0px 0px 0px" };
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      link.click();
    }, options);
    observer.observe(link);
  });
}
