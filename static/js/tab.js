// A tab's name, which the others see beside what is done here: a colour that no other tab of this browser has.
// It is kept over reloads; a lock that lasts as long as the page tells a duplicated tab from its original. The page that
// is reloaded may let go of its lock only after the new one has asked for it.
const COLOURS = [
  "amber", "azure", "beige", "black", "blue", "bronze", "brown", "copper", "coral", "crimson", "cyan", "emerald",
  "golden", "green", "grey", "indigo", "ivory", "lilac", "lime", "magenta", "maroon", "mint", "navy", "olive",
  "orange", "pink", "plum", "purple", "red", "ruby", "sand", "scarlet", "silver", "teal", "turquoise", "violet",
  "white", "yellow",
];
const PATIENCE = 3000;
const ORDERS = new RegExp("^/(" + [
  "sessions/\\d+/(runs|answers|forks|replays|rewind|notes/\\d+|spans/\\d+/again|events/\\d+/calls/[^/]+)",
  "runs/[^/]+/(commands|calls|stop)", "apps/[^/]+/tools/[^/]+(/effect)?",
].join("|") + ")$");
let name = "";

export function start() {
  const kept = sessionStorage.getItem("tab");
  if (kept && navigator.locks) hold(kept, { signal: AbortSignal.timeout(PATIENCE) }).catch(draw);
  else if (kept) take(kept);
  else draw();
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    if (ctx.request.method === "POST" && named(ctx.request.action)) ctx.request.body.set("actor", name);
  });
  document.addEventListener("formdata", ({ target, formData }) => {
    if (target.method === "post" && named(target.getAttribute("action") ?? location.href)) formData.set("actor", name);
  });
  document.addEventListener("htmx:after:swap", mark);
}

// Without locks, which pages from elsewhere than this machine may not have, a name may be another tab's, too.
function draw() {
  claim(COLOURS.sort(() => Math.random() - 0.5));
}

function claim([colour, ...others]) {
  if (navigator.locks) hold(colour, { ifAvailable: true }, () => (others.length ? claim(others) : take(colour)));
  else take(colour);
}

function hold(colour, options, taken) {
  return navigator.locks.request(`devui ${colour}`, options, (lock) => {
    if (!lock) return taken();
    take(colour);
    return new Promise(() => {});
  });
}

function take(colour) {
  sessionStorage.setItem("tab", colour);
  name = `${colour} tab`;
  mark();
}

function named(action) {
  return Boolean(name) && ORDERS.test(new URL(action, location).pathname);
}

function mark() {
  document.querySelectorAll("[data-actor]").forEach((actor) => {
    actor.title = `This is the ${name}`;
    if (actor.textContent === name) actor.textContent = "this tab";
  });
}
