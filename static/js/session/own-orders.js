// The reader's own message, answer, or step leads to the present, where its events arrive. What others do doesn't move the page.
import { afterwards } from "../inspector/requests.js";

const BEGINS = /^\/sessions\/\d+\/(runs|answers)$/, REWINDS = /^\/sessions\/\d+\/rewind$/;
const ORDERS = /^\/runs\/[^/]+\/commands$/, MOVES = /^(continue|step_)/;

export function start() {
  document.addEventListener("htmx:after:request", ({ detail: { ctx: { request, response } } }) => {
    if (request.method === "POST" && response.status < 400 && leads(request)) afterwards(goLive);
  });
}

// A rewind alone marks events that are already shown; with a message, it is followed by a run.
function leads({ action, body }) {
  const { pathname } = new URL(action, location);
  if (REWINDS.test(pathname)) return body.has("text") || body.has("unchanged");
  return BEGINS.test(pathname) || (ORDERS.test(pathname) && MOVES.test(body.get("command")));
}

// Goes live, unless a half-filled form would be lost.
function goLive() {
  const link = document.getElementById("go-live");
  const lost = document.getElementById(link?.getAttribute("hx-boost") === "false" ? "main" : "panel");
  if (link && ![...lost.querySelectorAll("textarea, input:not([type=hidden])")].some(isChanged)) link.click();
}

function isChanged(field) {
  const isChoice = field.type === "checkbox" || field.type === "radio";
  return isChoice ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}
