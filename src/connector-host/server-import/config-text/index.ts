export { readConfigText } from "./read-config-text.js";
