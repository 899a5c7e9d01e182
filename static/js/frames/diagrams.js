// Shows the diagrams in Markdown as pictures, once they come into view; a button shows the text again. What Mermaid can't draw stays
// text, with the reason.
import { isDark } from "../shell/theme.js";
import * as renderer from "./renderer.js";

const NEAR = "300px";
const LONGEST = 200; // characters of a reason
const LABELS = { text: ["Show source", "Show diagram"], size: ["Full size", "Fit to width"] };
const CLASSES = { text: "as-text", size: "full-size" };
const drawings = new WeakMap(); // what was added to each diagram
const visible = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) show(target);
}, { rootMargin: NEAR, scrollMargin: NEAR });

const sourceOf = (diagram) => diagram.querySelector("pre").textContent;

export function start() {
  new MutationObserver(update).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.(".drawing button");
    if (button) toggle(button.closest(".drawing"), button);
  });
}

export function update() {
  for (const diagram of document.querySelectorAll(".diagram")) {
    const drawing = drawings.get(diagram);
    if (drawing?.source !== sourceOf(diagram) || drawing.dark !== isDark()) watch(diagram);
    else if (!drawing.element.isConnected) diagram.append(drawing.element); // more of the answer has arrived
  }
}

// A picture that is known appears at once, so that the page doesn't jump.
function watch(diagram) {
  if (renderer.recall(sourceOf(diagram), isDark())) return show(diagram);
  visible.unobserve(diagram);
  visible.observe(diagram);
}

async function show(diagram) {
  visible.unobserve(diagram);
  const source = sourceOf(diagram), dark = isDark();
  const drawing = renderer.recall(source, dark) ?? await renderer.draw(source, dark);
  if (!diagram.isConnected || sourceOf(diagram) !== source) return;
  const before = drawings.get(diagram)?.element;
  const element = drawing.problem ? complain(create("div"), drawing.problem) : figure(drawing);
  before?.remove();
  diagram.append(element);
  drawings.set(diagram, { source, dark, element });
}

function figure({ src, width, height, title }) {
  const element = create("div", "drawing"), box = create("div", "canvas"), picture = new Image(width, height);
  const buttons = Object.entries(LABELS).map(([name, [label]]) => {
    const button = Object.assign(create("button", "quiet", label), { type: "button" });
    button.dataset.drawing = name;
    return button;
  });
  const isScaled = () => element.classList.contains("full-size") || (picture.clientWidth > 0 && picture.clientWidth < width - 1);
  new ResizeObserver(() => { buttons[1].hidden = !isScaled(); }).observe(picture);
  picture.addEventListener("error", () => complain(element, "the picture is damaged"));
  Object.assign(picture, { src, alt: title ? `Diagram: ${title}` : "Diagram", decoding: "sync" });
  box.append(picture);
  element.append(box, create("p", "button-row", ...buttons));
  return element;
}

function complain(element, problem) {
  const [reason] = problem.split("\n");
  element.className = "undrawn";
  element.textContent = `Mermaid can't draw this: ${reason.slice(0, LONGEST).replace(/[:.]$/, "")}.`;
  return element;
}

function create(name, className = "", ...children) {
  const element = document.createElement(name);
  element.className = className;
  element.append(...children);
  return element;
}

function toggle(drawing, button) {
  const name = button.dataset.drawing;
  button.textContent = LABELS[name][Number(drawing.classList.toggle(CLASSES[name]))];
}
