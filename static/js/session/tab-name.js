// Names the tab, so that other tabs can say who did something: a colour that no other tab of this browser has. It survives
// reloads; a lock that lasts as long as the page tells a duplicated tab from its original. A page that is being reloaded may
// release its lock only after the new one has requested it.
const COLOURS = [
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
  claim(COLOURS.sort(() => Math.random() - 0.5));
}

function claim([colour, ...others]) {
  if (navigator.locks) hold(colour, { ifAvailable: true }, () => (others.length ? claim(others) : take(colour)));
  else take(colour);
}

function hold(colour, options, unavailable) {
  return navigator.locks.request(`devui ${colour}`, options, (lock) => {
    if (!lock) return unavailable();
    take(colour);
    return new Promise(() => {});
  });
}

function take(colour) {
  sessionStorage.setItem("tab", colour);
  name = `${colour} tab`;
  mark();
}

function isOrder(action) {
  return Boolean(name) && ORDERS.test(new URL(action, location).pathname);
}

function mark() {
  if (!name) return;
  document.querySelectorAll("[data-actor]").forEach((actor) => {
    actor.title = `This is the ${name}`;
    if (actor.textContent === name) actor.textContent = "you";
  });
  document.querySelectorAll("[data-deed]").forEach((deed) => {
    const texts = document.createTreeWalker(deed, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = addressed(texts.currentNode.data);
    if (deed.title) deed.title = addressed(deed.title);
  });
}

// `You edited the event` of a sentence, or several, about who did what.
function addressed(text) {
  return text.replaceAll(`; ${name} `, "; you ").replace(new RegExp(`^(: )?${name} `), (_, colon) => (colon ? ": you " : "You "));
}
