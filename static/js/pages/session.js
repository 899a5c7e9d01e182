// The session page. Popups come before keys, so that one Escape closes one thing.
import * as sheet from "../breakpoints/sheet.js";
import * as attachments from "../chat/attachments.js";
import * as composer from "../chat/composer.js";
import * as thumbnails from "../chat/thumbnails.js";
import * as frames from "../frames/loader.js";
import * as graph from "../graph/graph.js";
import * as drafts from "../hold/drafts.js";
import * as unfolding from "../hold/unfolding.js";
import * as log from "../inspector/log.js";
import * as requests from "../inspector/requests.js";
import * as progress from "../jobs/progress.js";
import * as palette from "../palette/palette.js";
import * as fork from "../recovery/fork.js";
import * as chunks from "../request/chunks.js";
import * as announcements from "../session/announcements.js";
import * as clipboard from "../session/clipboard.js";
import * as keys from "../session/keys.js";
import * as navigation from "../session/navigation.js";
import * as ownOrders from "../session/own-orders.js";
import * as panes from "../session/panes.js";
import * as tabName from "../session/tab-name.js";
import * as settings from "../settings/settings.js";
import { start } from "../shell/behaviors.js";
import * as connection from "../shell/connection.js";
import * as copying from "../shell/copying.js";
import * as editor from "../shell/editor.js";
import * as forms from "../shell/forms.js";
import * as notices from "../shell/notices.js";
import * as popups from "../shell/popups.js";
import * as secrets from "../shell/secrets.js";
import * as stream from "../shell/stream.js";
import * as tabs from "../shell/tabs.js";
import * as theme from "../shell/theme.js";
import * as times from "../shell/times.js";
import * as uploads from "../shell/uploads.js";
import * as keyHistory from "../state/key-history.js";
import * as filter from "../timeline/filter.js";
import * as folds from "../timeline/folds.js";
import * as gaps from "../timeline/gaps.js";
import * as lists from "../timeline/lists.js";
import * as player from "../timeline/player.js";
import * as resultRows from "../timeline/result-rows.js";
import * as rows from "../timeline/rows.js";
import * as scrubber from "../timeline/scrubber.js";
import * as tour from "../tour/tour.js";
import * as spans from "../trace/spans.js";
import * as view from "../trace/view.js";

start([
  announcements, requests, attachments, composer, forms, connection, copying, editor, popups, palette, drafts, unfolding, filter, fork, sheet, keyHistory,
  log, keys, navigation, ownOrders, panes, player, resultRows, lists, gaps, notices, folds, rows, scrubber, stream, secrets, frames, clipboard, chunks, tabName,
  theme, times, spans, view, graph, progress, settings, tabs, thumbnails, tour, uploads,
]);
