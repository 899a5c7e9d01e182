// The comparison page.
import * as keys from "../compare/keys.js";
import * as palette from "../palette/palette.js";
import { start } from "../shell/behaviors.js";
import * as forms from "../shell/forms.js";
import * as popups from "../shell/popups.js";
import * as secrets from "../shell/secrets.js";
import * as theme from "../shell/theme.js";

start([forms, popups, keys, palette, secrets, theme]);
