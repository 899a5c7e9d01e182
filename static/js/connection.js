// The page's stream: says when it is lost, and tries again also where the first attempt failed. A request that
// did not reach the server is told of; what the server refuses, it tells itself. Firefox ends the requests of a page that
// is to be left before the next one is there: nothing to tell of. A page that stays after all, because what came was a
// file, asks again; what becomes of that is told.
const FIRST = 1000;
const LONGEST = 10000;
const GONE = 3000;
const SIGNED_OUT = "The server was started anew. Sign in with the new link that devui printed; this page then goes on.";
let wait = FIRST;
let timer = 0;
let leaving = false;

export function start() {
  const stream = (event) => event.target.closest?.("[data-stream]");
  window.addEventListener("beforeunload", () => { leaving = true; });
  document.addEventListener("htmx:before:request", () => { leaving = false; });
  document.addEventListener("htmx:sse:after:connection", () => { wait = FIRST; leaving = false; lost(false); });
  document.addEventListener("htmx:sse:error", ({ detail }) => {
    if (!leaving || detail.connection?.attempt) lost(true);
    if (detail.status === 401) explain(SIGNED_OUT);
  });
  document.addEventListener("htmx:response:error", (event) => { if (stream(event)) again(event.target); });
  document.addEventListener("htmx:after:request", (event) => { if (stream(event) && beheaded(event.detail.ctx.response)) again(event.target); });
  document.addEventListener("htmx:error", (event) => (stream(event) ? again(event.target) : tell(event)));
  document.addEventListener("reset", (event) => { if (stream(event)) location.reload(); });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-reconnect]")) location.reload();
    if (event.target.closest("#trouble [data-dismiss]")) document.getElementById("trouble").hidden = true;
  });
}

// An answer that was cut within its head: to a browser it is one without a type, and to htmx no stream.
function beheaded(response) {
  return response?.status === 200 && !response.raw.headers.get("Content-Type")?.startsWith("text/event-stream");
}

function lost(is) {
  const banner = document.getElementById("connection");
  if (!banner || banner.hidden === !is) return;
  banner.hidden = !is;
  document.documentElement.toggleAttribute("data-offline", is);
  if (is) return explain(`Showing what was known at ${new Date().toLocaleTimeString()}; trying again…`);
  document.getElementById("trouble").hidden = true;
  document.querySelectorAll("#notice > [role=alert]").forEach((refusal) => refusal.remove());
}

function explain(text) {
  const place = document.querySelector("#connection [data-connection]");
  if (place) place.textContent = text;
}

function again(element) {
  if (!leaving) lost(true);
  clearTimeout(timer);
  timer = setTimeout(() => window.htmx.trigger(element, "stream:retry"), wait);
  wait = Math.min(wait * 2, LONGEST);
}

function tell(event) {
  const box = document.getElementById("trouble");
  if (!box || event.detail.ctx?.response || event.detail.error?.name === "AbortError") return;
  setTimeout(() => { box.hidden = false; }, leaving ? GONE : 0);
}
