// Announces the newest row and the run's status to screen readers, politely and at most every three seconds.
import { connectOnce } from "../shell/behaviors.js";

const INTERVAL_MS = 3000;
const announced = new Map();
const waiting = new Map();
let timer = 0;

export function connect(root) {
  connectOnce(root, "#run, #rows", (region) => {
    new MutationObserver(() => note(region.id, words(region))).observe(region, { childList: true, subtree: region.id === "run" });
  });
}

function words(region) {
  if (region.id === "run") return status(region.querySelector(".run"));
  const row = region.lastElementChild;
  const texts = [".who", ".kind", ".what"].map((cell) => row?.querySelector(cell)?.textContent.trim()).filter(Boolean);
  return texts.filter((word, place) => !texts[place + 1]?.startsWith(`${word} `)).join(" ");  // not "asks asks for input"
}

// The run's status without the time, which changes every second.
function status(run) {
  const texts = [...(run?.childNodes ?? [])].filter((node) => node.nodeName !== "TIME").map((node) => node.textContent);
  return `run ${texts.join("").trim()}`;
}

function note(region, text) {
  if (!text || announced.get(region) === text) return;
  announced.set(region, text);
  waiting.set(region, text);
  timer ||= setTimeout(say, INTERVAL_MS);
}

function say() {
  timer = 0;
  const region = document.getElementById("spoken");
  if (region) region.textContent = [...waiting.values()].join(". ");
  waiting.clear();
}
