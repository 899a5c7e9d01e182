// Keyboard shortcuts of the session page, by section, and the key presses that it handles.
// Actions on the selected event (`after`) run once a selection that is still loading has arrived.
import * as breakpoints from "../breakpoints/sheet.js";
import * as composer from "../chat/composer.js";
import { afterwards } from "../inspector/requests.js";
import * as notes from "../notes/notes.js";
import { EVERYWHERE } from "../palette/commands.js";
import * as fork from "../recovery/fork.js";
import * as chunks from "../request/chunks.js";
import { keyboard, typing } from "../shell/keyboard.js";
import * as filter from "../timeline/filter.js";
import * as folds from "../timeline/folds.js";
import * as player from "../timeline/player.js";
import * as resultRows from "../timeline/result-rows.js";
import * as rows from "../timeline/rows.js";
import * as scrubber from "../timeline/scrubber.js";
import * as tour from "../tour/tour.js";
import * as view from "../trace/view.js";
import * as clipboard from "./clipboard.js";
import * as panes from "./panes.js";

const click = (selector) => document.querySelector(selector)?.click();

const focusedRow = () => document.activeElement?.closest?.("#rows > *");
// The tabs in their order, each with the other words that find it in the palette.
const WORDS = {
  Event: "detail", State: "keys variables memory", Raw: "json", Log: "output print console", Breaks: "breakpoints logpoints",
  Run: "replay progress tasks settings", Request: "prompt context tokens model answer", Graph: "agents tools workflow", Files: "artifacts uploads",
};
const TABS = Object.keys(WORDS);

// As in a tree grid: ← folds what is open, else goes to the parent row; → unfolds, or goes to the first child.
function foldOrLeave() {
  const row = focusedRow();
  if (row.matches(".inv")) return rows.fold(row.id, true);
  if (!row.dataset.event || folds.close(row) || folds.closeCut(row)) return;
  const above = folds.parent(row);
  if (above) rows.go(above);
  else focusHeader(row.dataset.group);
}

function unfoldOrEnter() {
  const row = focusedRow(), header = row.matches(".inv");
  if (header && rows.isFolded(row.id)) rows.fold(row.id, false);
  else if (header) rows.go(row.nextElementSibling?.closest(".row[data-event]"));
  else if (row.dataset.event && !folds.open(row) && row.hasAttribute("aria-expanded")) rows.step(1);
}

function focusHeader(group) {
  const header = document.getElementById(group);
  header?.querySelector("[data-fold]").focus({ preventScroll: true });
  header?.scrollIntoView({ block: "nearest" });
}

function live() {
  if (rows.selected()) click("#go-live");
  document.querySelectorAll("[data-tail]").forEach((box) => { box.scrollTop = box.scrollHeight; });
}

// Changes the breakpoints on the focused row, which the inspector may not show yet.
function breakHere(button) {
  const form = document.getElementById("break");
  const number = rows.current();
  if (!number) return;
  form.elements.event.value = number;
  form.requestSubmit(document.getElementById(button));
}

// The button is in the event's detail; if another tab is open, this only shows the detail.
function runToLike() {
  const button = document.querySelector(".run-to");
  if (button) button.click();
  else click(`[data-tab="1"]`);
}

function escape() {
  if (panes.close()) return;
  if (composer.focused()) rows.focus();
}

// The field is in the session's menu.
function tag() {
  const field = document.getElementById("new-tag");
  field.closest("[data-menu]").open = true;
  field.focus();
}

const SECTIONS = {
  Events: [
    { keys: ["j", "ArrowDown"], does: "next event", run: () => rows.step(1) },
    { keys: ["k", "ArrowUp"], does: "previous event", run: () => rows.step(-1) },
    { keys: ["Enter"], does: "open the focused event" },
    { keys: ["g g"], does: "first event", run: () => rows.first() },
    { keys: ["G"], does: "follow the newest event", synonyms: "go live", after: true, run: live },
    { keys: ["/"], does: "filter the events", run: () => filter.focus() },
    { keys: ["ArrowLeft"], does: "fold the agent or invocation, or go up to it", when: focusedRow, run: foldOrLeave },
    { keys: ["ArrowRight"], does: "unfold the agent or invocation, or go into it", when: focusedRow, run: unfoldOrEnter },
    { keys: ["v"], does: "show the trace, or the events", after: true, run: () => view.toggle() },
    { keys: [], does: "show calls and results separately, or as one row", run: () => resultRows.toggle() },
    { keys: ["x"], does: "star or unstar the selected event", needs: "select an event first", after: true, when: rows.current, run: () => notes.star() },
    { keys: ["N"], does: "write a note on the selected event", needs: "select an event first", after: true, when: rows.current, run: () => notes.write() },
    { keys: ["[", "]"], does: "previous chunk, next chunk of a streamed answer", each: ["previous chunk of the streamed answer", "next chunk of the streamed answer"], when: () => document.querySelector("[data-chunks]"), run: (key) => chunks.step(key === "]" ? 1 : -1) },
    { keys: ["y"], does: "copy a link to this view", after: true, run: () => clipboard.copyLink() },
    { keys: ["Y"], does: "copy the selected message as Markdown", after: true, run: () => clipboard.copyMessage() },
  ],
  Time: [
    { keys: [",", "."], does: "back one event, forward one event", each: ["back one event in time", "forward one event in time"], after: true, run: (key) => scrubber.step(key === "," ? -1 : 1) },
    { keys: ["<", ">"], does: "previous state change, next state change", each: ["previous state change", "next state change"], after: true, run: (key) => scrubber.leap("change", key === "<" ? -1 : 1) },
    { keys: ["{", "}"], does: "previous write, next write of the pinned state key", each: ["previous write of the pinned state key", "next write of the pinned state key"], when: () => document.getElementById("pin")?.value, after: true, run: (key) => scrubber.leap("write", key === "{" ? -1 : 1) },
    { keys: [" "], does: "play back events one by one from here, or stop", run: () => player.toggle() },
    { keys: ["d"], does: "compare the state of other events with this one", press: "#tab-state[aria-selected=false], #mark-state, #unmark-state" },
  ],
  Running: [
    { keys: ["p"], does: "pause at the next event", synonyms: "break", needs: "no run in progress", press: "#do-pause" },
    { keys: ["c", "F8"], does: "continue", needs: "no run is paused", press: "#do-continue" },
    { keys: ["n", "F10"], does: "step over the next commit", press: "#do-step_event" },
    { keys: ["m"], does: "half step: yield, commit, or resume", press: "#do-step_half" },
    { keys: ["i"], does: "step into the next model, tool, or agent", press: "#do-step_into" },
    { keys: ["o"], does: "step out", press: "#do-step_out" },
    { keys: ["g n"], does: "run to next similar event", needs: "pause a run and select an event first", after: true, when: () => rows.current() && document.getElementById("steps"), run: runToLike },
    { keys: [], does: "end after event", synonyms: "finish the event, then end the run; stop after", needs: "no run in progress", press: "#do-stop_after_event" },
    { keys: ["S"], does: "stop immediately", synonyms: "cancel abort", needs: "no run in progress", press: "#stop" },
    { keys: [], does: "send the message again", synonyms: "retry resend", press: "#send-again" },
    { keys: [], offers: 'button.primary[form="resume-form"]', synonyms: "resume or retry the run" },
    { keys: [], offers: "#held .held-do :is(.change > summary, .refusal > button)" },
    { keys: ["h"], does: "show what the run is waiting for", synonyms: "why stuck slow status", press: "#why, #tab-run" },
  ],
  Breakpoints: [
    { keys: ["b"], does: "add or remove a breakpoint on events like this", needs: "select an event first", after: true, when: rows.current, run: () => breakHere("do-break") },
    { keys: ["l"], does: "add or remove a logpoint on events like this", needs: "select an event first", after: true, when: rows.current, run: () => breakHere("do-log") },
    { keys: ["B"], does: "choose what a breakpoint matches", needs: "select an event first", after: true, when: rows.current, run: () => breakpoints.open() },
    { keys: ["Shift+F8"], does: "previous breakpoint hit", after: true, press: "#hit-back" },
    { keys: ["Shift+F9"], does: "next breakpoint hit", after: true, press: "#hit-on[href]" },
  ],
  Session: [
    { keys: ["C"], does: "new session of this app", press: "#new-session" },
    { keys: ["f"], does: "fork at the selected event", synonyms: "branch edit rewind replay try again", needs: "select an event first", after: true, when: rows.current, run: () => fork.open() },
    { keys: ["M"], does: "save the session as a test", synonyms: "make evaluation", press: "#make-test" },
    { keys: [], does: "export the session", synonyms: "download json html bundle otlp", press: "#export" },
    { keys: [], does: "compare with another session", synonyms: "diff", press: "#compare-with" },
    { keys: [], does: "rename the session", run: () => document.querySelector(".title-form input").select() },
    { keys: [], does: "tag the session", synonyms: "label", run: tag },
    { keys: [], does: "delete the session", press: "#delete-session" },
    { keys: [], does: "about this app", press: "#about-app" },
  ],
  Page: [
    { keys: [..."123456789"], does: `go to a tab: ${TABS.join(", ")}`, each: TABS.map((name) => `tab ${name}`), synonyms: Object.values(WORDS), after: true, run: (key) => click(`[data-tab="${key}"]`) },
    { keys: [], does: "take the 60-second tour of the debugger", synonyms: "help guide", when: tour.isPossible, run: tour.begin },
    ...EVERYWHERE,
    { keys: ["Escape"], does: "close, or leave the message field", when: () => false, run: escape },
  ],
  Message: [
    { keys: ["r"], does: "write a message", run: () => composer.focus() },
    { keys: ["Enter", "Ctrl+Enter"], does: "send the message, or queue it during a run", field: true },
    { keys: ["Shift+Enter"], does: "new line in the message", field: true },
    { keys: ["Ctrl+Enter"], does: "save the note", field: true },
  ],
};

// Letters belong to the focused field, but function keys don't. Arrows outside the list of rows scroll the focused pane, and Escape
// belongs to the title while it is being edited.
function handles({ target, key }) {
  if (key === "Escape") return !target.closest?.("[data-title]");
  if (/^F\d+$/.test(key)) return true;
  if (typing(target)) return false;
  if (key === " ") return !target.closest?.("button, summary, [role=button]"); // Space presses them
  return !key.startsWith("Arrow") || target === document.body || Boolean(target.closest?.("#rows"));
}

export const { start, connect } = keyboard(SECTIONS, handles, afterwards);
