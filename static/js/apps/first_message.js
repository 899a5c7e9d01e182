// The field for the first message of a new session: Enter sends it, Shift+Enter starts a new line.
import { composing } from "../shell/keyboard.js";

let sent = false; // a session is to be made once, however often Enter is pressed

export function start() {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (target.id !== "first-message" || event.key !== "Enter" || event.shiftKey || composing(event)) return;
    event.preventDefault();
    if (event.repeat || sent || !target.value.trim()) return;
    sent = true;
    target.form.requestSubmit();
  });
  addEventListener("pageshow", () => { sent = false; });
}
