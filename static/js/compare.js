// The page of a comparison.
import { start } from "./behaviours.js";
import * as comparekeys from "./comparekeys.js";
import * as confirm from "./confirm.js";
import * as dialogs from "./dialogs.js";
import * as menus from "./menus.js";
import * as theme from "./theme.js";

start([confirm, dialogs, menus, comparekeys, theme]);
