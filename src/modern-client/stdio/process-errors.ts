import { RemoteConnectorError } from "../../errors.js";
import { MODERN_REVISIONS } from "../../protocol/index.js";
import type { ProcessExit } from "../../transport/process/index.js";

/** What is said of messages that a process didn't live to answer. */
export function processExited({ exitCode, signal, stderrTail }: ProcessExit): RemoteConnectorError<"process_exited"> {
  const how = signal === undefined ? `exited with code ${String(exitCode ?? "unknown")}` : `was ended by ${signal}`;
  const details = { exitCode, signal, stderrTail };
  return new RemoteConnectorError("process_exited", { message: `The server process ${how}.`, details });
}

/** The process lives on without a pipe that is needed. */
export function pipeBroken(
  command: string,
  reason: string,
  cause?: unknown,
): RemoteConnectorError<"connection_broken"> {
  const message = `The connection to the server process broke: ${reason}.`;
  return new RemoteConnectorError("connection_broken", { message, details: { origin: command, reason }, cause });
}

/** Too many messages wait for a server that doesn't read. */
export function queueFull(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: "Too many messages wait for the server to read; maxQueuedMessages raises the limit.",
    details: { option: "maxQueuedMessages", limit },
  });
}

/** The answer is a line that was not kept. */
export function lineTooLong(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: "The answer is too long a line; maxLineBytes raises the limit.",
    details: { option: "maxLineBytes", limit },
  });
}

/** The probe shows a server of an older revision, or none. */
export function notModern(reason: string, cause: unknown): RemoteConnectorError<"unsupported_version"> {
  return new RemoteConnectorError("unsupported_version", {
    message: `The server process does not speak a modern revision: ${reason}.`,
    details: { supported: [], ours: MODERN_REVISIONS },
    cause,
  });
}
