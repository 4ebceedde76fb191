import { type Delivery, deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { invalidAnswer, type LegacyRevision, peerError } from "../protocol/index.js";
import { encodeRequest } from "./encode-line.js";
import { callHandler } from "./handlers.js";
import {
  classifyInitializeAnswer,
  initializeParams,
  type InitializeVerdict,
  type ServerIntroduction,
} from "./initialize.js";
import { StdioConnection } from "./stdio-connection.js";
import type { LegacyStdioConfig } from "./stdio-options.js";

/** A server that was started and initialized. */
export interface StartedServer {
  readonly connection: StdioConnection;
  readonly introduction: ServerIntroduction;
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
    const introduction = await initialize(connection, config, (answer) => {
      last = answer;
    });
    if (introduction.revision === "2025-03-26") connection.acceptBatches();
    connection.notify("notifications/initialized");
    return { kind: "started", connection, introduction };
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

/** One offer, and a second one where the server names what it would rather speak. All of it has one deadline. */
async function initialize(
  connection: StdioConnection,
  config: LegacyStdioConfig,
  onSent: (answer: Promise<unknown>) => void,
): Promise<ServerIntroduction> {
  const { revisions, clock, lifecycleDeadlines } = config;
  const offered: LegacyRevision[] = [];
  const endsAt = clock.now() + lifecycleDeadlines.totalTimeoutMs;
  let offer = revisions[0];
  for (;;) {
    offered.push(offer);
    const answered = offerRevision(connection, config, { offer, offered, remainingMs: endsAt - clock.now() });
    onSent(answered);
    const verdict = await answered;
    if (verdict.kind === "ready") {
      for (const diagnostic of verdict.diagnostics) connection.report(diagnostic);
      return verdict.introduction;
    }
    offer = verdict.revision;
  }
}

interface Offer {
  readonly offer: LegacyRevision;
  readonly offered: readonly LegacyRevision[];
  readonly remainingMs: number;
}

type Progressing = Extract<InitializeVerdict, { readonly kind: "ready" | "offer_again" }>;

function offerRevision(connection: StdioConnection, config: LegacyStdioConfig, offer: Offer): Promise<Progressing> {
  const { lifecycleDeadlines, signal, revisions } = config;
  const id = connection.takeId();
  const params = initializeParams(offer.offer, config.clientInfo);
  return connection.call<Progressing>({
    id,
    line: encodeRequest({ id, method: "initialize", params, meta: undefined, progressToken: undefined }),
    cancellable: false,
    limits: {
      connectTimeoutMs: lifecycleDeadlines.connectTimeoutMs,
      // A server may be slow to start, and says nothing meanwhile.
      idleTimeoutMs: Infinity,
      totalTimeoutMs: offer.remainingMs,
      signal,
    },
    totalTimeoutMs: lifecycleDeadlines.totalTimeoutMs,
    totalOption: "lifecycleTimeoutMs",
    read: (received) => {
      const verdict = classifyInitializeAnswer(received.answer, { revisions, offered: offer.offered });
      if (verdict.kind === "unsupported_version") throw unsupportedVersion(verdict.supported, revisions);
      if (verdict.kind === "refused") throw peerError(verdict.error);
      if (verdict.kind === "invalid") throw invalidAnswer(verdict.reason);
      return verdict;
    },
  });
}

function unsupportedVersion(supported: readonly string[], ours: readonly string[]): RemoteConnectorError {
  return new RemoteConnectorError("unsupported_version", {
    message: `The server speaks ${supported.join(", ")}; accepted here are ${ours.join(", ")}.`,
    delivery: "answered",
    details: { supported, ours },
  });
}
