// Enter sends, Shift+Enter makes a new line; what was sent leaves the field, what was refused stays, and so does what was
// typed before the answer came.
import { each } from "./connected.js";

export function start() {
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("[data-composer] textarea");
    if (!field || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    const send = field.form.querySelector("#send");
    if (send && !send.disabled && field.value.trim()) field.form.requestSubmit(send);
  });
  document.addEventListener("htmx:after:request", (event) => {
    const form = event.target.closest?.("[data-composer]");
    const { request, response } = event.detail.ctx;
    if (!form || event.target !== form || request.method !== "POST" || response.status >= 400) return;
    const field = form.querySelector("textarea");
    if (field.value === sent(request)) field.value = "";
    const pause = form.elements.pause;
    if (pause) pause.checked = false; // it is said of one message
    form.querySelector("[role=alert]").textContent = "";
  });
  document.addEventListener("change", (event) => {
    const name = event.target.dataset?.remember;
    if (name) localStorage.setItem(name, event.target.checked ? "on" : "off");
  });
}

export function connect(root) {
  each(root, "[data-composer] textarea", (field) => {
    field.setSelectionRange(field.value.length, field.value.length); // of a text that is there already, one goes on at its end
    const idle = !document.querySelector(".msg, #run .running, #run .held, #run .stopping");
    if (idle && document.activeElement === document.body) field.focus();
  });
  each(root, "[data-remember]", (box) => {
    const kept = localStorage.getItem(box.dataset.remember);
    if (kept) box.checked = kept === "on";
  });
}

function sent(request) {
  return new URLSearchParams(request.body).get("text")?.replaceAll("\r\n", "\n");
}

export function focus() {
  document.querySelector("[data-composer] textarea")?.focus();
}

export function focused() {
  return Boolean(document.activeElement?.closest("[data-composer]"));
}
