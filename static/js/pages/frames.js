// What pages show in isolation: loaded by frames/loader.js.
import * as diagrams from "../frames/diagrams.js";
import * as pictures from "../frames/pictures.js";
import { start } from "../shell/behaviors.js";

start([diagrams, pictures]);
