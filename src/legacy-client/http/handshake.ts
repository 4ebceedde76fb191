import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { LegacyRevision } from "../../protocol/index.js";
import { type AnswerHead, type HttpEndpoint, NOTHING_SENT } from "../../transport/index.js";
import type { CallSpec } from "../connection.js";
import { initializeParams } from "../initialize.js";
import { type InitializeStep, readInitializeAnswer } from "../read-initialize.js";
import { totalTimeout } from "./call-failures.js";
import type { LegacyHttpConfig } from "./options.js";
import { postMessage } from "./post-message.js";
import { missesVersionHeader, POST_HEADERS, readSessionId, type RequestScope, Session } from "./session.js";
import type { BoundCall } from "./session-call-ports.js";

/** What a handshake needs of its connection. */
export interface HandshakeHost {
  readonly config: LegacyHttpConfig;
  /** Where it is sent. */
  readonly endpoint: HttpEndpoint;
  readonly generation: number;
  /** Ends the handshake. */
  readonly signal: AbortSignal | undefined;
  call<T>(spec: CallSpec<T>, bound: BoundCall): Promise<T>;
  /** The server has opened this session. It is not ready yet, and never is when the handshake fails. */
  onOpened(scope: RequestScope): void;
  /** Told of each promise whose delivery verdict is that of the handshake. */
  onSent(sent: Promise<unknown>): void;
}

/**
 * Opens a session: `initialize` without session and version header, then `notifications/initialized` with both.
 *
 * `initialize` is repeated at most once for each of two reasons: a 400 that names the version header gets it, and a refusal that
 * lists other versions a mutual one. All of it has one deadline. Source: 2025-11-25, Lifecycle, Initialization;
 * Transports, Protocol Version Header.
 */
export async function openSession(host: HandshakeHost): Promise<Session> {
  const { config, generation, endpoint } = host;
  const { clock, lifecycleDeadlines, revisions } = config;
  const endsAt = clock.now() + lifecycleDeadlines.totalTimeoutMs;
  const remainingMs = (): number => Math.max(0, endsAt - clock.now());
  const offered: LegacyRevision[] = [revisions[0]];
  const purpose = {};
  let refusal: RemoteConnectorError | undefined;
  for (;;) {
    const attempt = new Offer(host, purpose, offered, refusal !== undefined, remainingMs());
    let step: InitializeStep;
    try {
      step = await attempt.send();
    } catch (error) {
      attempt.tellOpened();
      if (!isRemoteConnectorError(error)) throw error;
      if (refusal !== undefined) throw withCause(error, refusal);
      if (!attempt.missesHeader) throw error;
      refusal = error;
      continue;
    }
    if (step.kind === "offer_again") {
      attempt.tellOpened();
      offered.push(step.revision);
      continue;
    }
    const session = new Session(generation, attempt.sessionId, step.introduction, config.headers);
    host.onOpened(session);
    for (const diagnostic of step.diagnostics) config.onDiagnostic(diagnostic);
    const taken = postMessage(endpoint, session, {
      body: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      operation: "notifications/initialized",
      purpose,
      limits: { ...lifecycleDeadlines, totalTimeoutMs: remainingMs(), signal: host.signal },
    });
    host.onSent(taken);
    await taken.catch((error: unknown) => {
      throw isRemoteConnectorError(error, "timeout") ? asLifecycle(error, lifecycleDeadlines.totalTimeoutMs) : error;
    });
    return session;
  }
}

/** One `initialize`. */
class Offer implements BoundCall {
  readonly scope: RequestScope;
  readonly endpoint: HttpEndpoint;
  readonly purpose: object;
  sessionId: string | undefined;
  missesHeader = false;
  readonly #host: HandshakeHost;
  readonly #offered: readonly LegacyRevision[];
  readonly #remainingMs: number;
  readonly #revision: LegacyRevision;

  constructor(
    host: HandshakeHost,
    purpose: object,
    offered: readonly LegacyRevision[],
    namesVersion: boolean,
    remainingMs: number,
  ) {
    const { headers, revisions } = host.config;
    this.purpose = purpose;
    this.#host = host;
    this.#offered = [...offered];
    this.#remainingMs = remainingMs;
    this.#revision = offered.at(-1) ?? revisions[0];
    this.endpoint = host.endpoint;
    const version = namesVersion ? ["MCP-Protocol-Version", this.#revision] : [];
    const postHeaders = [...POST_HEADERS, ...version, ...headers];
    this.scope = { generation: host.generation, id: undefined, postHeaders, getHeaders: [], takesBatches: false };
  }

  send(): Promise<InitializeStep> {
    const { config, signal } = this.#host;
    const { lifecycleDeadlines, revisions } = config;
    const context = { revisions, offered: this.#offered };
    const sent = this.#host.call<InitializeStep>(
      {
        method: "initialize",
        params: initializeParams(this.#revision, config),
        meta: undefined,
        cancellable: false,
        limits: { ...lifecycleDeadlines, totalTimeoutMs: this.#remainingMs, signal },
        totalTimeoutMs: lifecycleDeadlines.totalTimeoutMs,
        totalOption: "lifecycleTimeoutMs",
        read: (received) => readInitializeAnswer(received, context),
      },
      this,
    );
    this.#host.onSent(sent);
    return sent;
  }

  /** A session that came with an answer that is of no use is one all the same; no version was agreed on for it. */
  tellOpened(): void {
    const id = this.sessionId;
    if (id === undefined) return;
    const bound = ["Mcp-Session-Id", id, ...this.#host.config.headers];
    this.#host.onOpened({
      ...this.scope,
      id,
      postHeaders: [...POST_HEADERS, ...bound],
      getHeaders: ["Accept", "text/event-stream", ...bound],
    });
  }

  onHead(head: AnswerHead): void {
    this.sessionId = head.status >= 200 && head.status < 300 ? readSessionId(head) : undefined;
  }

  onRefused(status: number, body: string): void {
    this.missesHeader = missesVersionHeader(status, body);
  }
}

/** Only what was left of the deadline for all of it had passed. */
function asLifecycle(error: RemoteConnectorError<"timeout">, limitMs: number): RemoteConnectorError {
  const { phase, evidence = NOTHING_SENT } = error.details;
  return phase === "total" ? totalTimeout(limitMs, "lifecycleTimeoutMs", error.delivery, evidence) : error;
}

function withCause(error: RemoteConnectorError, cause: RemoteConnectorError): RemoteConnectorError {
  if (error.cause !== undefined) return error;
  const { code, message, delivery, details } = error;
  return new RemoteConnectorError(code, { message, delivery, details, cause });
}
