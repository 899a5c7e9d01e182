// Tells screen readers what goes on, politely and at most every three seconds.
import { each } from "./connected.js";

const EVERY = 3000;
let next = "";
let timer = 0;

export function connect(root) {
  each(root, "#run, #rows", (region) => {
    new MutationObserver(() => say(words(region))).observe(region, { childList: true, subtree: region.id === "run" });
  });
}

function words(region) {
  if (region.id === "run") return `run ${region.querySelector(".run")?.textContent.trim() ?? ""}`;
  const row = region.lastElementChild;
  return [".who", ".kind", ".what"].map((cell) => row?.querySelector(cell)?.textContent.trim()).filter(Boolean).join(" ");
}

function say(text) {
  if (text) next = text;
  timer ||= setTimeout(() => {
    timer = 0;
    const status = document.getElementById("spoken");
    if (status && next) status.textContent = next;
    next = "";
  }, EVERY);
}
