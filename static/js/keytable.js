// Every key of the page and what it does, in one table; keys.js obeys it and makes the sheet of keys from it.
// What starts at the selected event is done `after` a choice of another that is on its way.
import * as composer from "./composer.js";
import * as dialogs from "./dialogs.js";
import * as filter from "./filter.js";
import { toggle as fold } from "./fold.js";
import * as fork from "./fork.js";
import * as gutter from "./gutter.js";
import * as notes from "./notes.js";
import * as panes from "./panes.js";
import * as player from "./player.js";
import * as rows from "./rows.js";
import * as scrubber from "./scrubber.js";
import * as share from "./share.js";
import * as stream from "./stream.js";
import * as theme from "./theme.js";

const click = (selector) => document.querySelector(selector)?.click();

function foldHere(close) {
  const row = document.activeElement.closest?.("#rows > *");
  if (row) fold(row.dataset.group ?? row.id, close);
}

function live() {
  if (rows.selected()) click("#go-live");
  document.querySelectorAll("[data-tail]").forEach((box) => { box.scrollTop = box.scrollHeight; });
}

// The row of the focus, which the inspector has perhaps not come to yet.
function breakHere(button) {
  const form = document.getElementById("break");
  const number = rows.current();
  if (!number) return;
  form.elements.event.value = number;
  form.requestSubmit(document.getElementById(button));
}

// The button is in the event's detail: where another tab is open, that is shown first.
function runToLike() {
  const button = document.querySelector(".like-this button[name=like]");
  if (button) button.click();
  else click(`[data-tab="1"]`);
}

function escape() {
  if (panes.close()) return;
  if (composer.focused()) rows.focus();
  else composer.focus();
}

export const KEYS = [
  { keys: ["j", "ArrowDown"], does: "next event", run: () => rows.step(1) },
  { keys: ["k", "ArrowUp"], does: "previous event", run: () => rows.step(-1) },
  { keys: ["Enter"], does: "open the focused event" },
  { keys: ["ArrowLeft"], does: "fold the invocation", run: () => foldHere(true) },
  { keys: ["ArrowRight"], does: "unfold it", run: () => foldHere(false) },
  { keys: ["/"], does: "filter the events", run: () => filter.focus() },
  { keys: ["g g"], does: "first event", run: () => rows.first() },
  { keys: ["G"], does: "follow the newest event", after: true, run: live },
  { keys: ["g n"], does: "run to the next event like the selected one", after: true, run: runToLike },
  { keys: [",", "."], does: "the page as of one event earlier, later", after: true, run: (key) => scrubber.step(key === "," ? -1 : 1) },
  { keys: ["<", ">"], does: "as of the state change before, after", after: true, run: (key) => scrubber.leap("change", key === "<" ? -1 : 1) },
  { keys: ["{", "}"], does: "as of the write before, after, of the pinned state key", after: true, run: (key) => scrubber.leap("write", key === "{" ? -1 : 1) },
  { keys: [" "], does: "watch: event after event from here, or stop", run: () => player.toggle() },
  { keys: ["p"], does: "pause at the next event", run: () => click("#do-pause") },
  { keys: ["c", "F8"], does: "continue", run: () => click("#do-continue") },
  { keys: ["n", "F10"], does: "step to after the next commit", run: () => click("#do-step_event") },
  { keys: ["m"], does: "step by half: yield, commit, resume", run: () => click("#do-step_half") },
  { keys: ["i"], does: "step into the next model, tool or agent", run: () => click("#do-step_into") },
  { keys: ["o"], does: "step out of it", run: () => click("#do-step_out") },
  { keys: ["s"], does: "stop after one event more", run: () => click("#do-stop_after_event") },
  { keys: ["S"], does: "stop at once", run: () => click("#stop") },
  { keys: ["b"], does: "break on events like the selected one, or no longer", after: true, run: () => breakHere("do-break") },
  { keys: ["l"], does: "log events like it, or no longer", after: true, run: () => breakHere("do-log") },
  { keys: ["B"], does: "choose what of it to break on", after: true, run: () => gutter.open() },
  { keys: ["Shift+F8"], does: "back to the previous breakpoint hit", after: true, run: () => click("#hit-back") },
  { keys: ["Shift+F9"], does: "on to the next one", after: true, run: () => click("#hit-on[href]") },
  { keys: ["f"], does: "fork at the selected event", after: true, run: () => fork.open() },
  { keys: ["x"], does: "star the selected event, or no longer", after: true, run: () => notes.star() },
  { keys: ["N"], does: "write a note on it", after: true, run: () => notes.write() },
  { keys: ["M"], does: "keep the session as a test", run: () => click("#make-test") },
  { keys: ["y"], does: "copy a link to what is seen", after: true, run: () => share.copy() },
  { keys: ["1", "2", "3", "4", "5", "6", "7", "8"], does: "Event, State, Raw, Log, Breaks, Run, Request, Trace", after: true, run: (key) => click(`[data-tab="${key}"]`) },
  { keys: ["[", "]"], does: "streamed answer: one piece back, one on", run: (key) => stream.step(key === "]" ? 1 : -1) },
  { keys: ["d"], does: "mark the state shown, to compare that of other events with it", run: () => click("#tab-state:not([aria-current]), #mark-state, #unmark-state") },
  { keys: ["h"], does: "what holds the run up", run: () => click("#why, #tab-run") },
  { keys: ["Enter", "Ctrl+Enter"], does: "send the message", field: true },
  { keys: ["Shift+Enter"], does: "new line in the message", field: true },
  { keys: ["Ctrl+Enter"], does: "save the note", field: true },
  { keys: ["Escape"], does: "close; between message and events", run: escape },
  { keys: ["t"], does: "light or dark", run: () => theme.toggle() },
  { keys: ["?"], does: "this sheet", run: () => dialogs.open("keys") },
];
