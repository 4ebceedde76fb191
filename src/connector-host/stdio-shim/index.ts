export { type ServeStdioOptions } from "./options.js";
export { serveStdio } from "./serve-stdio.js";
