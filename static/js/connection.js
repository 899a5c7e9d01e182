// The page's stream: says when it is lost, tries again also where the first attempt failed, and tells of
// requests that did not get through.
const FIRST = 1000;
const LONGEST = 10000;
let wait = FIRST;
let timer = 0;

export function start() {
  const stream = (event) => event.target.closest?.("[data-stream]");
  document.addEventListener("htmx:sse:after:connection", () => { wait = FIRST; lost(false); });
  document.addEventListener("htmx:sse:error", () => lost(true));
  document.addEventListener("htmx:response:error", (event) => (stream(event) ? again(event.target) : tell(event)));
  document.addEventListener("htmx:error", (event) => (stream(event) ? again(event.target) : tell(event)));
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-reconnect]")) location.reload();
    if (event.target.closest("[data-dismiss]")) document.getElementById("trouble").hidden = true;
  });
}

function lost(is) {
  const banner = document.getElementById("connection");
  if (!banner || banner.hidden === !is) return;
  banner.hidden = !is;
  document.documentElement.toggleAttribute("data-offline", is);
  if (is) banner.querySelector("[data-connection]").textContent = `Showing what was known at ${new Date().toLocaleTimeString()}; trying again…`;
}

function again(element) {
  lost(true);
  clearTimeout(timer);
  timer = setTimeout(() => window.htmx.trigger(element, "stream:retry"), wait);
  wait = Math.min(wait * 2, LONGEST);
}

function tell(event) {
  const status = event.detail.ctx?.response?.status;
  const box = document.getElementById("trouble");
  if (!box || status === 409 || status === 422 || event.detail.error?.name === "AbortError") return;
  box.hidden = false;
  box.querySelector("span").textContent = status
    ? `The server answered ${status}. Nothing was changed.`
    : "The server could not be reached. Is it still running?";
}
