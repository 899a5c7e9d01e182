// The tour of the debugger, on the page itself: a card beside what the current step is about. It watches the page and moves on when
// a step is done, in whatever way. If the step can no longer be done (`lost`), the card says why and offers to start over. The page
// stays usable, and Escape leaves the tour.
import { STEPS } from "./steps.js";

const SAID = "tour"; // in localStorage: the tour was taken or declined, and isn't offered again
const BEGIN = "tour-begins"; // in sessionStorage: the next session page starts the tour
const NARROW = matchMedia("(max-width: 700px)");
const OPEN = "dialog[open], :popover-open, [data-menu][open], #filter-words:not([hidden])";
const get = (selector) => document.querySelector(selector);

let place = -1; // the current step; -1: no tour
let timer = 0;

export function start() {
  document.addEventListener("click", ({ target }) => {
    if (target.closest?.("[data-tour-begin]")) begin();
    else if (target.closest?.("[data-tour-decline]")) decline();
    else if (target.closest?.("[data-tour-leave]")) leave();
    else if (target.closest?.("[data-tour-act]")) act();
  });
  // One Escape closes one thing: what is open above the page first, then the tour.
  document.addEventListener("keydown", (event) => {
    if (place < 0 || event.key !== "Escape" || event.isComposing || event.defaultPrevented || get(OPEN)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    leave();
  }, true);
  addEventListener("resize", () => place >= 0 && put());
  if (sessionStorage.getItem(BEGIN) && home()?.dataset.tourHere) show(0);
  sessionStorage.removeItem(BEGIN);
}

export function update() {
  for (const each of document.querySelectorAll("[data-tour-offer]")) each.hidden = !home() || Boolean(localStorage.getItem(SAID));
  for (const each of document.querySelectorAll("[data-tour-restart]")) each.hidden = !home();
}

export function isPossible() {
  return Boolean(home());
}

// Starts in this session if it is an empty one of the sample, else in a new one.
export function begin() {
  if (!home()) return;
  localStorage.setItem(SAID, "taken");
  update();
  get("dialog[open]")?.close();
  if (home().dataset.tourHere && !get("#rows [data-event], #messages .msg")) return show(0);
  sessionStorage.setItem(BEGIN, "yes");
  const form = document.createElement("form");
  form.method = "post";
  form.action = home().dataset.tour;
  document.body.append(form);
  form.submit();
}

const home = () => get("[data-tour]");

function decline() {
  localStorage.setItem(SAID, "declined");
  update();
}

function leave() {
  const inside = get("#tour").contains(document.activeElement);
  place = -1;
  clearInterval(timer);
  get("#tour").hidden = true;
  mark(null);
  if (inside) get("#composer-text").focus();
}

function show(next) {
  const card = get("#tour"), inside = place < 0 || card.contains(document.activeElement);
  if (next > place) STEPS[next].enter?.();
  place = next;
  const step = STEPS[place];
  card.querySelector("[data-tour-count]").textContent = `${place + 1} of ${STEPS.length}`;
  card.querySelector("[data-tour-title]").textContent = step.title;
  card.hidden = false;
  const last = place === STEPS.length - 1;
  card.querySelector("[data-tour-act]").hidden = last;
  card.querySelector("[data-tour-leave]").textContent = last ? "Done" : "Leave";
  clearInterval(timer);
  say(step.text);
  if (last) put();
  else {
    timer = setInterval(watch, 200);
    watch();
  }
  if (inside) card.querySelector(last ? "[data-tour-leave]" : "[data-tour-act]").focus();
}

function watch() {
  const step = STEPS[place];
  if (step.isDone()) return show(place + 1);
  if (step.isUndone?.()) return show(place - 1);
  const reason = step.lost?.(), button = get("#tour [data-tour-act]"), next = step.next?.();
  const label = reason ? "Start over" : next ? next.textContent.trim() : step.label();
  say(reason || step.text);
  if (button.textContent !== label) button.textContent = label;
  button.disabled = Boolean(!reason && step.isReady && !step.isReady());
  put();
}

// Changes the text only if it is new, because it is read aloud.
function say(text) {
  const line = get("#tour [data-tour-text]");
  if (line.textContent !== text) line.textContent = text;
}

function act() {
  if (STEPS[place].lost?.()) return begin();
  const at = STEPS[place].at();
  const pane = at?.closest(".pane")?.id;
  if (NARROW.matches && pane) get(`[data-pane-tab="${pane}"]`)?.click();
  at?.scrollIntoView({ block: "nearest" });
  const next = STEPS[place].next?.();
  if (next) next.click();
  else STEPS[place].act?.();
  put();
}

// Places the card beside what the step is about. If that is low, such as a tab, it has neighbors beside it, and the card goes below
// or above it. Where there is no room, the card is at the bottom of the window, or at its top if it would cover the button to press.
function put() {
  const card = get("#tour"), step = STEPS[place], at = step.at();
  const box = at?.getBoundingClientRect(), next = step.next?.() || null;
  mark(box?.width ? next || at : null);
  const { offsetWidth: width, offsetHeight: height } = card;
  const within = (value, most) => Math.max(8, Math.min(value, most));
  const button = next?.getBoundingClientRect();
  let left = (innerWidth - width) / 2, top = innerHeight - height - 60;
  if (button && button.bottom > top && button.top < top + height) top = 8;
  if (box?.width) {
    const [x, y] = [within(box.left, innerWidth - width - 8), within(box.top, innerHeight - height - 8)];
    const sides = [[box.left - width - 12, y], [box.right + 12, y]];
    const ends = [[x, box.bottom + 12], [x, box.top - height - 12]];
    const fits = ([x, y]) => x >= 8 && x + width <= innerWidth - 8 && y >= 8 && y + height <= innerHeight - 8;
    const places = box.height < 60 ? [...ends, ...sides] : [...sides, ...ends];
    [left, top] = places.find(fits) ?? [left, top];
  }
  card.style.left = `${within(left, innerWidth - width - 8)}px`;
  card.style.top = `${within(top, innerHeight - height - 8)}px`;
}

function mark(element) {
  for (const each of document.querySelectorAll(".tour-at")) if (each !== element) each.classList.remove("tour-at");
  element?.classList.add("tour-at");
}
