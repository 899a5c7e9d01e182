// The message field: Enter sends, Shift+Enter starts a new line. Sending a message clears the field; a refused message stays, and so
// does text typed before the response arrived.
import { connectOnce } from "../shell/behaviors.js";
import { composing } from "../shell/keyboard.js";
import * as lists from "../timeline/lists.js";
import * as attachments from "./attachments.js";
import * as handover from "./handover.js";

let focusedFor = ""; // the session whose field has already had the focus
const touch = matchMedia("(pointer: coarse)"); // where focusing the field opens a keyboard that covers the answer
let current = null; // the focused field, even if another has just replaced it

export function start() {
  document.addEventListener("focusin", ({ target }) => { current = target.closest("[data-composer] #composer-text"); });
  document.addEventListener("focusout", ({ target }) => {
    setTimeout(() => { if (target === current && target.isConnected && document.activeElement !== target) current = null; });
  });
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("[data-composer] #composer-text");
    if (!field || event.key !== "Enter" || event.shiftKey || composing(event)) return;
    event.preventDefault();
    const send = field.form.querySelector("#send, #queue-message"); // during a run, the message is queued
    if (send && !send.disabled && (field.value.trim() || attachments.of(field.form).length)) field.form.requestSubmit(send);
  });
  document.addEventListener("submit", ({ target }) => {
    if (target.closest("#welcome") && !touch.matches) focus(); // the button disappears with the welcome
  });
  document.addEventListener("htmx:after:request", (event) => {
    const form = event.target.closest?.("[data-composer]");
    const { request, response } = event.detail.ctx;
    const edited = event.target.closest?.("[data-closes]");
    if (edited && response.status < 400) edited.closest("details").open = false;
    if (!form || event.target !== form || request.method !== "POST" || response.status >= 400) return;
    const field = form.querySelector("#composer-text");
    if (field.value === request.body.get("text").replaceAll("\r\n", "\n")) field.value = "";
    attachments.remove(form, request.body.getAll("files"));
    lists.toEnds();
    const pause = form.elements.pause;
    if (pause) pause.checked = false; // it applies to one message
    form.querySelector("[role=alert]").textContent = "";
  });
  document.addEventListener("change", (event) => {
    const name = event.target.dataset?.remember;
    if (name) localStorage.setItem(name, event.target.checked ? "on" : "off");
  });
}

export function connect(root) {
  connectOnce(root, "[data-composer] #composer-text", (field) => {
    field.setSelectionRange(field.value.length, field.value.length); // typing continues at the end of a restored text
    const isNew = handover.take();
    const idle = isNew || !document.querySelector(".msg, #run .running, #run .held, #run .stopping");
    const replaces = current && !current.isConnected;
    if (focusedFor === field.form.action && !replaces) return; // the reader has left the field
    if (!idle || document.activeElement !== document.body) return;
    field.focus();
    focusedFor = field.form.action;
  });
  connectOnce(root, "[data-remember]", (box) => {
    const stored = localStorage.getItem(box.dataset.remember);
    if (stored) box.checked = stored === "on";
  });
}

export function focus() {
  document.querySelector("[data-composer] #composer-text")?.focus();
}

export function focused() {
  return Boolean(document.activeElement?.closest("[data-composer]"));
}
