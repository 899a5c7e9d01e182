// Opens the page's stream, and shares the browser's connections among tabs. Over HTTP/1.1, a browser opens six connections
// to a host, for all tabs together; if each tab kept a stream, other requests would never be answered. So there are four
// slots, held as locks that the tabs share. A tab streams while it holds a slot. If others are waiting, it releases the slot
// after a while, queues again, and then catches up from the last event it saw.
import { connectOnce } from "./behaviors.js";

const SLOTS = ["devui stream 1", "devui stream 2", "devui stream 3", "devui stream 4"];
const TURN = 1000;
const WORK = 30, PAUSE = 16; // milliseconds: a stream with a backlog leaves the page time to draw and to handle input
let seen = "";
let over = false;
let release = null;

export function start() {
  const ours = (event) => event.target.matches?.("[data-stream]");
  document.addEventListener("htmx:config:request", (event) => {
    if (!ours(event)) return;
    const { request } = event.detail.ctx;
    request.cache = "no-store"; // otherwise Firefox makes a second tab with this address wait for the first
    if (seen) request.headers["Last-Event-ID"] = seen;
  });
  document.addEventListener("htmx:sse:after:message", (event) => {
    if (ours(event)) seen = event.detail.message.id || seen;
  });
  let since = 0, work = 0;
  document.addEventListener("htmx:sse:before:message", ({ target, detail }) => {
    since = performance.now();
    if (work <= WORK) return;
    work = 0;
    detail.waitUntil(new Promise((resume) => {
      setTimeout(() => {
        since = performance.now();
        detail.cancelled ||= !target.isConnected; // a filter has replaced the stream and the rows that it adds to
        resume();
      }, PAUSE);
    }));
  });
  document.addEventListener("htmx:sse:after:message", () => { work += performance.now() - since; });
  document.addEventListener("htmx:sse:before:connection", (event) => {
    if (ours(event) && navigator.locks && !release) event.preventDefault();
  });
  document.addEventListener("htmx:sse:close", (event) => {
    if (!ours(event)) return;
    over ||= event.detail.reason === "message";
    release?.();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) release?.();
  });
}

// The offset that the page has reached.
export function position() {
  const address = document.querySelector("[data-stream]").getAttribute("hx-sse:connect");
  return seen || new URL(address, location).searchParams.get("after");
}

export function connect(root) {
  connectOnce(root, "[data-stream]", async (stream) => {
    seen = ""; // a stream that replaces another starts where its address says
    if (document.readyState !== "complete") await once(window, "load");
    // Pages from another machine may have no locks; then each tab streams.
    if (navigator.locks) takeTurns(stream);
    else open(stream);
  });
}

async function takeTurns(stream) {
  while (stream.isConnected && !over) {
    if (document.hidden) await once(document, "visibilitychange");
    else await withSlot((name) => turn(stream, name));
    if (stream._htmx?.sse) await once(document, "htmx:sse:close");
  }
}

// Runs `work` in the first free slot, or queues for one of them.
async function withSlot(work) {
  for (const name of SLOTS) {
    const done = await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await work(name);
      return Boolean(lock);
    });
    if (done) return;
  }
  const name = SLOTS[Math.floor(Math.random() * SLOTS.length)];
  await navigator.locks.request(name, () => work(name));
}

async function turn(stream, name) {
  if (document.hidden || !stream.isConnected) return;
  let free;
  const released = new Promise((resolve) => { free = resolve; });
  release = free;
  const asking = setInterval(async () => {
    const { pending } = await navigator.locks.query();
    const isWanted = pending.some((lock) => lock.name === name);
    if (!stream.isConnected || (isWanted && stream._htmx?.sse?.reader)) free();
  }, TURN);
  open(stream);
  await released;
  if (release === free) release = null;
  clearInterval(asking);
  stream._htmx?.sse?.reader?.cancel();
}

function open(stream) {
  window.htmx.trigger(stream, "stream:retry");
}

function once(target, name) {
  return new Promise((go) => target.addEventListener(name, go, { once: true }));
}
