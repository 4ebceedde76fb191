import { type Delivery, deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { callHandler } from "./handlers.js";
import { negotiate } from "./negotiate.js";
import { StdioConnection } from "./stdio-connection.js";
import type { LegacyStdioConfig } from "./stdio-options.js";

/** A server that was started and initialized. */
export interface StartedServer {
  readonly connection: StdioConnection;
}

/** Why a server could not be started, and how far it got. */
export interface FailedStart {
  /** An error of this package, or the reason of the caller's own signal. */
  readonly reason: unknown;
  readonly delivery: Delivery;
}

export type StartOutcome = ({ readonly kind: "started" } & StartedServer) | ({ readonly kind: "failed" } & FailedStart);

/**
 * Starts a server process and initializes it. Never rejects.
 *
 * After a failure the process is ended. That is waited for, but not when a deadline or the caller's signal brought the
 * failure about: then it goes on by itself, within the bounds of closing. An error that says nothing of the process has a
 * `process_exited` as its cause, which holds the end of stderr.
 *
 * Source: 2025-11-25, Lifecycle, Initialization.
 */
export async function startServer(config: LegacyStdioConfig): Promise<StartOutcome> {
  const { signal } = config;
  if (signal?.aborted === true) return { kind: "failed", reason: signal.reason, delivery: "not_sent" };
  let connection: StdioConnection;
  try {
    connection = await StdioConnection.open(config);
  } catch (reason) {
    return { kind: "failed", reason, delivery: "not_sent" };
  }
  let last: Promise<unknown> | undefined;
  try {
    const introduction = await negotiate(connection, config, (answer) => {
      last = answer;
    });
    connection.introduce(introduction);
    connection.notify("notifications/initialized");
    return { kind: "started", connection };
  } catch (reason) {
    const delivery = deliveryOf(last) ?? "not_sent";
    const closing = connection.close();
    tellAbandoned(connection, config, closing);
    if (isReasonOf(signal, reason) || !isRemoteConnectorError(reason)) return { kind: "failed", reason, delivery };
    if (reason.code !== "timeout") await closing;
    return { kind: "failed", reason: withStderr(reason, connection.stderrTail()), delivery };
  }
}

function tellAbandoned(
  connection: StdioConnection,
  { onStartAbandoned }: LegacyStdioConfig,
  ended: Promise<void>,
): void {
  if (onStartAbandoned === undefined) return;
  const subject = "onStartAbandoned";
  callHandler(onStartAbandoned, ended, () =>
    connection.report({
      kind: "handler_failed",
      message: "The handler onStartAbandoned of the client threw.",
      subject,
    }),
  );
}

function isReasonOf(signal: AbortSignal | undefined, reason: unknown): boolean {
  return signal?.aborted === true && Object.is(reason, signal.reason);
}

/** The same failure with the end of stderr as its cause, since a server that doesn't start mostly says there why. */
function withStderr(error: RemoteConnectorError, stderrTail: string): RemoteConnectorError {
  if (error.code === "process_exited" || error.cause !== undefined) return error;
  const cause = new RemoteConnectorError("process_exited", {
    message: "The server process was ended after its failed start.",
    details: { exitCode: undefined, signal: undefined, stderrTail },
  });
  const { code, message, delivery, details } = error;
  return new RemoteConnectorError(code, { message, delivery, details, cause });
}
