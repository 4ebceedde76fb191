export { ChildProcess, type ChildProcessConfig, type ProcessExit } from "./child-process.js";
export { type EnvironmentVariables } from "./child-environment.js";
export { type Envelope } from "./envelope-scan.js";
export { type Line, LineFramer } from "./line-framer.js";
export { MessageReader } from "./message-reader.js";
export { Redaction } from "./redaction.js";
export { type Outgoing } from "./write-queue.js";
