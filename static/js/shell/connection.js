// Shows when the connection is lost, and reconnects the stream even if its first attempt failed. Reports requests that don't
// reach the server; the server itself reports those it refuses. While a page is being left, Firefox aborts its requests before
// the next page has loaded; these aren't reported. If the page stays because the link was a download, it reconnects.
const FIRST = 1000;
const MAX_WAIT_MS = 10000;
const LEAVING = 3000;
const SIGNED_OUT = "The server was restarted. Sign in with the new link that devui printed, and this page will reconnect.";
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
  document.addEventListener("htmx:response:error", (event) => { if (stream(event)) retry(event.target); });
  document.addEventListener("htmx:after:request", (event) => { if (stream(event) && truncated(event.detail.ctx.response)) retry(event.target); });
  document.addEventListener("htmx:error", (event) => (stream(event) ? retry(event.target) : report(event)));
  document.addEventListener("reset", (event) => { if (stream(event)) location.reload(); });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-reconnect]")) location.reload();
    if (event.target.closest("#trouble [data-dismiss]")) document.getElementById("trouble").hidden = true;
  });
}

// A response cut off within its headers has no content type, so htmx doesn't recognize it as a stream.
function truncated(response) {
  return response?.status === 200 && !response.raw.headers.get("Content-Type")?.startsWith("text/event-stream");
}

function lost(is) {
  const banner = document.getElementById("connection");
  if (!banner || banner.hidden === !is) return;
  banner.hidden = !is;
  document.documentElement.toggleAttribute("data-offline", is);
  if (is) return explain(`Showing data from ${new Date().toLocaleTimeString()}. Reconnecting…`);
  document.getElementById("trouble").hidden = true;
  document.querySelectorAll("#notice > [role=alert]").forEach((error) => error.remove());
}

function explain(text) {
  const place = document.querySelector("#connection [data-connection]");
  if (place) place.textContent = text;
}

function retry(element) {
  if (!leaving) lost(true);
  clearTimeout(timer);
  timer = setTimeout(() => window.htmx.trigger(element, "stream:retry"), wait);
  wait = Math.min(wait * 2, MAX_WAIT_MS);
}

function report(event) {
  const box = document.getElementById("trouble");
  if (!box || event.detail.ctx?.response || event.detail.error?.name === "AbortError") return;
  setTimeout(() => { box.hidden = false; }, leaving ? LEAVING : 0);
}
