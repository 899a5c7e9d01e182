// The pages that read like a document: apps, one app, errors.
import { start } from "./behaviours.js";
import * as confirm from "./confirm.js";
import * as connection from "./connection.js";
import * as menus from "./menus.js";
import * as once from "./once.js";
import * as pick from "./pick.js";
import * as putaway from "./putaway.js";
import * as refusal from "./refusal.js";
import * as seats from "./seats.js";
import * as theme from "./theme.js";
import * as times from "./times.js";
import * as trials from "./trials.js";

start([confirm, connection, menus, once, pick, putaway, refusal, seats, theme, times, trials]);
