// Which tabs of this browser have their stream open. Over HTTP/1.1 a browser opens six connections to one host, for all
// tabs together: were each of them a stream, nothing else would ever be answered. So there are four seats, kept as
// locks that the tabs share. A tab streams while it sits; where others wait it gets up after a while and waits again,
// and what happened meanwhile comes with its next turn, from the event it has seen last.
import { each } from "./connected.js";

const SEATS = ["devui stream 1", "devui stream 2", "devui stream 3", "devui stream 4"];
const TURN = 1000;
let seen = "";
let over = false;
let getUp = null;

export function start() {
  const ours = (event) => event.target.matches?.("[data-stream]");
  document.addEventListener("htmx:config:request", (event) => {
    if (!ours(event)) return;
    const { request } = event.detail.ctx;
    request.cache = "no-store"; // else Firefox lets a second tab on the same address wait for the first one's end
    if (seen) request.headers["Last-Event-ID"] = seen;
  });
  document.addEventListener("htmx:sse:after:message", (event) => {
    if (ours(event)) seen = event.detail.message.id || seen;
  });
  document.addEventListener("htmx:sse:before:connection", (event) => {
    if (ours(event) && navigator.locks && !getUp) event.preventDefault();
  });
  document.addEventListener("htmx:sse:close", (event) => {
    if (!ours(event)) return;
    over ||= event.detail.reason === "message";
    getUp?.();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) getUp?.();
  });
}

// Where in the journal the page has come to.
export function position() {
  const address = document.querySelector("[data-stream]").getAttribute("hx-sse:connect");
  return seen || new URL(address, location).searchParams.get("after");
}

export function connect(root) {
  each(root, "[data-stream]", async (stream) => {
    seen = ""; // A stream that takes the place of another begins where its address says.
    if (document.readyState !== "complete") await once(window, "load");
    // Without locks, which pages from elsewhere than this machine may not have, each tab streams.
    if (navigator.locks) takeTurns(stream);
    else open(stream);
  });
}

async function takeTurns(stream) {
  while (stream.isConnected && !over) {
    if (document.hidden) await once(document, "visibilitychange");
    else await seated((name) => turn(stream, name));
    if (stream._htmx?.sse) await once(document, "htmx:sse:close");
  }
}

// The first seat that is free, or one of them in the order of asking.
async function seated(work) {
  for (const name of SEATS) {
    const sat = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await work(name);
      return Boolean(lock);
    });
    if (sat) return;
  }
  const name = SEATS[Math.floor(Math.random() * SEATS.length)];
  await navigator.locks.request(name, () => work(name));
}

async function turn(stream, name) {
  if (document.hidden || !stream.isConnected) return;
  let rise;
  const up = new Promise((resolve) => { rise = resolve; });
  getUp = rise;
  const asking = setInterval(async () => {
    const { pending } = await navigator.locks.query();
    const wanted = pending.some((lock) => lock.name === name);
    if (!stream.isConnected || (wanted && stream._htmx?.sse?.reader)) rise();
  }, TURN);
  open(stream);
  await up;
  if (getUp === rise) getUp = null;
  clearInterval(asking);
  stream._htmx?.sse?.reader?.cancel();
}

function open(stream) {
  window.htmx.trigger(stream, "stream:retry");
}

function once(target, name) {
  return new Promise((go) => target.addEventListener(name, go, { once: true }));
}
