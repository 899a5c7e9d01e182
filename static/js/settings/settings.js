// The settings of the next run: the disclosure's chip lists those that are set, and editing a field clears its error.

import { composing } from "../shell/keyboard.js";

export function start() {
  document.addEventListener("input", ({ target }) => {
    if (!target.matches?.("[data-setting]")) return;
    target.removeAttribute("aria-invalid");
    target.closest(".field").querySelector(".field-error")?.remove();
    show(target.closest("[data-settings]"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || composing(event) || !event.target.matches?.("input[data-setting]")) return;
    event.preventDefault(); // the form's first button may be Stop
    const form = event.target.form;
    if (form.checkValidity()) form.requestSubmit(form.querySelector("#send:enabled, #queue-message"));
    else form.querySelector("#composer-text").focus();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-settings] [data-clear]");
    if (!button) return;
    const settings = button.closest("[data-settings]");
    for (const field of settings.querySelectorAll("[data-setting]")) field.value = "";
    for (const error of settings.querySelectorAll(".field-error")) error.remove();
    show(settings);
    settings.querySelector("[data-setting]").focus();
  });
}

function show(settings) {
  const set = [...settings.querySelectorAll("[data-setting]")].filter((field) => field.value.trim() && field.value.trim() !== field.placeholder);
  const chip = settings.querySelector("[data-set]");
  chip.textContent = set.length > 2 ? `${set.length} changed` : set.map((field) => words(field)).join(", ");
  chip.hidden = settings.querySelector("[data-clear]").hidden = !set.length;
}

function words(field) {
  const label = field.dataset.setting;
  return field.tagName === "TEXTAREA" ? label : `${label} ${field.value.trim()}`;
}
