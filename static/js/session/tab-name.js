// Names the tab, so that others can see who did something: a color that no other tab of this browser has. The tabs of one browser
// count as the same person; a tab that has since been closed may be anyone's, so its color stays. A name survives reloads. A lock
// held while the page exists tells a duplicated tab from its original; a page that is being reloaded may release its lock only
// after the new one has requested it.
const COLORS = [
  "amber", "azure", "beige", "black", "blue", "bronze", "brown", "copper", "coral", "crimson", "cyan", "emerald",
  "golden", "green", "grey", "indigo", "ivory", "lilac", "lime", "magenta", "maroon", "mint", "navy", "olive",
  "orange", "pink", "plum", "purple", "red", "ruby", "sand", "scarlet", "silver", "teal", "turquoise", "violet",
  "white", "yellow",
];
const PATIENCE = 3000;
const ORDERS = new RegExp("^/(" + [
  "sessions/\\d+/(runs|answers|forks|replays|rewind|notes/\\d+|spans/\\d+/again|events/\\d+/calls/[^/]+)",
  "runs/[^/]+/(commands|calls|stop)", "apps/[^/]+/(engine|tools/[^/]+(/effect)?)",
].join("|") + ")$");
const siblings = new Set(); // names of tabs that were open in this browser when they were looked up
const others = new Set();
const strangers = new Set(); // names to look up
let name = "";

export function start() {
  const stored = sessionStorage.getItem("tab");
  if (stored && navigator.locks) hold(stored, { signal: AbortSignal.timeout(PATIENCE) }).catch(draw);
  else if (stored) take(stored);
  else draw();
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    if (ctx.request.method === "POST" && isOrder(ctx.request.action)) ctx.request.body.set("actor", name);
  });
  document.addEventListener("formdata", ({ target, formData }) => {
    if (target.method === "post" && isOrder(target.getAttribute("action") ?? location.href)) formData.set("actor", name);
  });
  document.addEventListener("htmx:after:swap", mark);
}

// Pages from another machine may have no locks; then two tabs may have the same name.
function draw() {
  claim(COLORS.sort(() => Math.random() - 0.5));
}

function claim([color, ...others]) {
  if (navigator.locks) hold(color, { ifAvailable: true }, () => (others.length ? claim(others) : take(color)));
  else take(color);
}

function hold(color, options, unavailable) {
  return navigator.locks.request(`devui ${color}`, options, (lock) => {
    if (!lock) return unavailable();
    take(color);
    return new Promise(() => {});
  });
}

function take(color) {
  sessionStorage.setItem("tab", color);
  name = `${color} tab`;
  mark();
}

function isOrder(action) {
  return Boolean(name) && ORDERS.test(new URL(action, location).pathname);
}

function mark() {
  if (!name) return;
  address();
  if (strangers.size && navigator.locks) navigator.locks.query().then(meet);
}

// The locks are those of all open pages of this browser.
function meet({ held }) {
  const open = new Set(held.map((lock) => `${lock.name.replace(/^devui /, "")} tab`));
  for (const who of strangers) (open.has(who) ? siblings : others).add(who);
  strangers.clear();
  address();
}

function address() {
  document.querySelectorAll("[data-actor]").forEach((actor) => {
    actor.title = `This is the ${name}`;
    actor.textContent = person(actor.textContent) ?? actor.textContent;
  });
  document.querySelectorAll("[data-deed]").forEach((deed) => {
    const texts = document.createTreeWalker(deed, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = addressed(texts.currentNode.data);
    if (deed.title) deed.title = addressed(deed.title);
  });
}

// Replaces the tabs of this browser by “you” in one or more sentences about who did what: `You edited the event`.
function addressed(text) {
  return text.replace(/(^|^: |; )([a-z]+ tab) /g, (sentence, before, who) => {
    const you = person(who);
    if (!you) return sentence;
    return `${before}${before ? you : you.replace("y", "Y")}${you.includes(",") ? "," : ""} `;
  });
}

function person(who) {
  if (who === name) return "you";
  if (siblings.has(who)) return "you, in another tab";
  if (/^[a-z]+ tab$/.test(who) && !others.has(who)) strangers.add(who);
  return null;
}
