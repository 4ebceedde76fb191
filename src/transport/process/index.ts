export { ChildProcess, type ChildProcessConfig, type ProcessExit } from "./child-process.js";
export { type EnvironmentVariables } from "./child-environment.js";
export { type Envelope } from "./envelope-scan.js";
export { type Line, LineFramer } from "./line-framer.js";
export { printableText } from "./printable-text.js";
export { Redaction } from "./redaction.js";
export { type Outgoing } from "./write-queue.js";
