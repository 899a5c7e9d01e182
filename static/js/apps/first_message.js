// The field for the first message of a new session: Enter sends it, Shift+Enter starts a new line.
import { composing } from "../shell/keyboard.js";

export function start() {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (target.id !== "first-message" || event.key !== "Enter" || event.shiftKey || composing(event)) return;
    event.preventDefault();
    if (target.value.trim()) target.form.requestSubmit();
  });
}
