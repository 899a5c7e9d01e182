// Pages that read like a document: the apps, one app, errors.
import * as firstMessage from "../apps/first_message.js";
import * as reloaded from "../apps/reloaded.js";
import * as selection from "../apps/selection.js";
import * as frames from "../frames/loader.js";
import * as graph from "../graph/graph.js";
import * as progress from "../jobs/progress.js";
import * as keys from "../palette/commands.js";
import * as palette from "../palette/palette.js";
import { start } from "../shell/behaviors.js";
import * as connection from "../shell/connection.js";
import * as copying from "../shell/copying.js";
import * as editor from "../shell/editor.js";
import * as forms from "../shell/forms.js";
import * as notices from "../shell/notices.js";
import * as popups from "../shell/popups.js";
import * as secrets from "../shell/secrets.js";
import * as stream from "../shell/stream.js";
import * as theme from "../shell/theme.js";
import * as times from "../shell/times.js";

start([forms, firstMessage, connection, copying, editor, progress, popups, keys, palette, reloaded, selection, graph, frames, notices, stream, secrets, theme, times]);
