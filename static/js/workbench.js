// The session page: every behaviour there is. Menus come before keys: an Escape closes one thing.
import * as announce from "./announce.js";
import * as asked from "./asked.js";
import { start } from "./behaviours.js";
import * as breaks from "./breaks.js";
import * as choosing from "./choosing.js";
import * as composer from "./composer.js";
import * as confirm from "./confirm.js";
import * as connection from "./connection.js";
import * as copy from "./copy.js";
import * as dialogs from "./dialogs.js";
import * as drafts from "./drafts.js";
import * as earlier from "./earlier.js";
import * as filter from "./filter.js";
import * as filterwords from "./filterwords.js";
import * as fold from "./fold.js";
import * as fork from "./fork.js";
import * as gutter from "./gutter.js";
import * as history from "./history.js";
import * as keys from "./keys.js";
import * as log from "./log.js";
import * as menus from "./menus.js";
import * as notes from "./notes.js";
import * as once from "./once.js";
import * as outside from "./outside.js";
import * as panes from "./panes.js";
import * as player from "./player.js";
import * as putaway from "./putaway.js";
import * as refusal from "./refusal.js";
import * as returning from "./returning.js";
import * as rows from "./rows.js";
import * as scrubber from "./scrubber.js";
import * as seats from "./seats.js";
import * as share from "./share.js";
import * as splitters from "./splitters.js";
import * as stream from "./stream.js";
import * as switches from "./switches.js";
import * as tab from "./tab.js";
import * as tail from "./tail.js";
import * as taken from "./taken.js";
import * as theme from "./theme.js";
import * as times from "./times.js";
import * as tip from "./tip.js";
import * as title from "./title.js";
import * as trace from "./trace.js";
import * as trials from "./trials.js";
import * as unique from "./unique.js";

start([
  announce, asked, breaks, choosing, composer, confirm, connection, copy, dialogs, drafts, earlier, filter, filterwords, fold, fork, gutter,
  history, log, menus, keys, notes, once, outside, panes, player, putaway, unique, refusal, returning, rows, scrubber, seats, share, splitters, stream,
  switches, tab, tail, taken, theme, times, tip, title, trace, trials,
]);
