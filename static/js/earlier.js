// The link to earlier events is followed when it comes near.
import { each } from "./connected.js";

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
