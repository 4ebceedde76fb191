import { parseJson, type RequestId, RpcCode } from "../../protocol/index.js";
import type { Line } from "../../transport/process/index.js";
import { AgentRequests } from "./agent-requests.js";
import { HostCall, type HostCallPorts } from "./host-call.js";
import { askWhole } from "./ask-whole.js";
import { classifyLine, type LineVerdict } from "./classify-line.js";
import { errorLines, failureError, type HostFailure, unreadableLine } from "./error-lines.js";
import type { HostLink } from "./host-link.js";
import type { HostStarter } from "./host-starter.js";
import { agreementOf, copyOf, handshakeOf, LegacySession } from "./legacy-session.js";
import { ListeningStream } from "./listening-stream.js";
import { OpenAsks, refusalLine } from "./open-asks.js";
import type { ServeStdioConfig } from "./options.js";

/** What is known of the requests of a line. */
interface RequestTraits {
  readonly session?: LegacySession | undefined;
  /** Of a modern request. */
  readonly method?: string;
  /** The request of a session, when it is alone in its line. */
  readonly sessionRequest?: Verdict<"legacy">;
  readonly isBatch?: boolean;
}

type Verdict<K extends LineVerdict["kind"]> = Extract<LineVerdict, { readonly kind: K }>;

export interface ShimOptions {
  readonly config: ServeStdioConfig;
  readonly socketPath: string;
  readonly link: HostLink;
  readonly starter: HostStarter;
  /** Writes a line for the agent. */
  readonly write: (message: string | Uint8Array) => void;
  /** No lines may come from now on, or they may again. */
  readonly holdInput: (isHeld: boolean) => void;
  /** Told of every request that is over. */
  readonly onOver: () => void;
}

/**
 * What an agent's lines do: requests go to the host, answers and messages come back, each as a line. It understands as much of them
 * as that takes.
 *
 * Requests of revision 2026-07-28 stand alone. A legacy `initialize` begins a session, which all that follows without a version of
 * its own belongs to; its lines wait until the handshake is over.
 */
export class Shim {
  readonly #options: ShimOptions;
  readonly #requests: AgentRequests<HostCall>;
  readonly #ports: HostCallPorts;
  readonly #asks = new OpenAsks<HostCall>();
  #session: LegacySession | undefined;
  #listening: ListeningStream | undefined;
  /** The agent has said all that it will say. */
  #isFinishing = false;
  /** And all of that was taken. */
  #isSilent = false;
  #isClosed = false;

  constructor(options: ShimOptions) {
    this.#options = options;
    const { config, socketPath, link, starter, write, onOver } = options;
    this.#requests = new AgentRequests(onOver);
    const refuseAsk = (id: RequestId): boolean => {
      if (this.#isSilent) this.#refuseAsk(id);
      return this.#isSilent;
    };
    this.#ports = { config, socketPath, link, starter, write, requests: this.#requests, asks: this.#asks, refuseAsk };
  }

  /** Takes the agent's next line. */
  take(line: Line): void {
    if (this.#isClosed) return;
    if (line.kind === "overlong") return this.#refuseOverlong(line);
    const value = parseJson(line.text);
    if (value === undefined) {
      // What the agent's end cut off is no line of it.
      return line.unterminated ? undefined : this.#refuse(RpcCode.parseError, "The line is not JSON");
    }
    this.#act(classifyLine(value, this.#session?.revision), line.bytes);
  }

  /** Whether a request is under way. */
  get isBusy(): boolean {
    return this.#requests.size > 0;
  }

  /** Ends what would not end by itself, and begins nothing of the kind any more. Requests go on. */
  finish(): void {
    this.#isFinishing = true;
    this.#listening?.close();
    this.#requests.abortSubscriptions();
  }

  /** No line of the agent is left: what it was asked, and is from now on, has no answer, so that its calls need not wait for one. */
  silence(): void {
    this.#isSilent = true;
    for (const id of this.#asks.takeAll()) this.#refuseAsk(id);
  }

  /** Ends everything that is under way, without an answer, and the session. Resolves within `closeTimeoutMs`. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { link, starter } = this.#options;
    starter.close();
    this.#listening?.close();
    this.#requests.abortAll();
    if (this.#session !== undefined) await endSession(link, this.#session);
  }

  #act(verdict: LineVerdict, bytes: Uint8Array): void {
    switch (verdict.kind) {
      case "modern":
        return this.#request(bytes, verdict.ids, { method: verdict.method });
      case "legacy":
        return this.#request(bytes, verdict.ids, { session: this.#session, sessionRequest: verdict });
      case "batch":
        return this.#request(bytes, verdict.ids, { session: this.#session, isBatch: true });
      case "initialize":
        return this.#initialize(verdict, bytes);
      case "aside":
        return this.#aside(verdict, bytes);
      case "response":
        return this.#respond(verdict, bytes);
      case "cancel":
        return this.#cancel(verdict.requestId, bytes);
      case "ping":
        return this.#options.write(JSON.stringify({ jsonrpc: "2.0", id: verdict.id, result: {} }));
      case "malformed":
        return this.#refuse(RpcCode.invalidRequest, `The line is ${verdict.reason}`, verdict.id);
      case "ignored":
        return;
    }
  }

  #request(
    line: Uint8Array,
    ids: readonly RequestId[],
    { session, method, sessionRequest, isBatch = false }: RequestTraits,
  ): void {
    if (!this.#mayBegin(ids, isBatch)) return;
    const isSubscription = method === "subscriptions/listen";
    if (isSubscription && this.#isFinishing) return;
    const body = copyOf(line);
    const adapt = sessionRequest && session?.noteWhenDone(sessionRequest, body);
    // Not started by a `new` alone: it adds itself to the requests.
    void new HostCall(this.#ports, { ids, isBatch, body, session, isSubscription, adapt });
  }

  /** Refuses what can't run beside the rest. */
  #mayBegin(ids: readonly RequestId[], isBatch: boolean): boolean {
    const { config, write } = this.#options;
    if (this.#requests.holdsAny(ids)) {
      // Without the id, which is that of the request that goes on.
      this.#refuse(RpcCode.invalidRequest, "The line has the id of a request that is under way");
      return false;
    }
    const { maxRequests, deliveryKey } = config;
    if (this.#requests.size < maxRequests) return true;
    const failure: HostFailure = {
      message: `${String(maxRequests)} requests are under way (maxRequests).`,
      delivery: "not_sent",
      code: "limit_exceeded",
      facts: { option: "maxRequests", limit: maxRequests },
    };
    if (ids.length > 0) write(errorLines(ids, isBatch, failureError(failure, deliveryKey)));
    return false;
  }

  /** A second one begins anew: what the agent had before is over for it. */
  #initialize({ id, offered }: Verdict<"initialize">, line: Uint8Array): void {
    if (!this.#mayBegin([id], false)) return;
    const { link } = this.#options;
    this.#listening?.close();
    if (this.#session !== undefined) void endSession(link, this.#session);
    this.#session = undefined;
    const handshake = handshakeOf(line, offered);
    this.#options.holdInput(true);
    void new HostCall(this.#ports, {
      ids: [id],
      isBatch: false,
      body: handshake.body,
      session: undefined,
      headers: [],
      isSubscription: false,
      adapt: (answer) => {
        const agreement = agreementOf(handshake, answer);
        if (agreement === undefined) return answer.body;
        this.#session = new LegacySession({ link, handshake, agreement, onRenewed: () => this.#onRenewed() });
        return agreement.line;
      },
      // Later than its answer is written.
      onOver: () => queueMicrotask(() => this.#options.holdInput(false)),
    });
  }

  #aside({ method }: Verdict<"aside">, line: Uint8Array): void {
    const { link } = this.#options;
    const session = this.#session;
    if (session === undefined) return;
    const said = askWhole(link, { method: "POST", body: copyOf(line), headers: session.headers });
    if (method !== "notifications/initialized") return;
    this.#options.holdInput(true);
    void said.then(() => {
      this.#listen(session);
      this.#options.holdInput(false);
    });
  }

  #respond({ id }: Verdict<"response">, line: Uint8Array): void {
    if (id !== undefined) this.#asks.delete(id);
    void this.#session?.tell(copyOf(line), FIRST_COUNTS);
  }

  #refuseAsk(id: RequestId): void {
    void this.#session?.tell(refusalLine(id), FIRST_COUNTS);
  }

  #listen(session: LegacySession): void {
    if (this.#isFinishing || this.#isClosed || this.#session !== session || session.id === undefined) return;
    const { link, write, config } = this.#options;
    this.#listening?.close();
    this.#listening = new ListeningStream({ link, clock: config.clock, session, onMessage: write });
  }

  /** Nobody could say what changed meanwhile. */
  #onRenewed(): void {
    if (this.#isClosed) return;
    for (const kind of this.#session?.announced ?? []) {
      this.#options.write(JSON.stringify({ jsonrpc: "2.0", method: `notifications/${kind}/list_changed` }));
    }
  }

  #cancel(requestId: RequestId, line: Uint8Array): void {
    if (this.#requests.get(requestId)?.cancel() !== true) return;
    void this.#session?.tell(copyOf(line), { mayRepeat: false });
  }

  #refuse(code: number, message: string, id?: RequestId): void {
    this.#options.write(unreadableLine(this.#session?.revision, { code, message }, id));
  }

  #refuseOverlong({ envelope }: Extract<Line, { readonly kind: "overlong" }>): void {
    const { maxLineBytes } = this.#options.config;
    const message = `The line has more than ${String(maxLineBytes)} bytes (maxLineBytes)`;
    if (envelope.hasMethod) this.#refuse(RpcCode.invalidRequest, message, envelope.id);
  }
}

/** Of several answers to a question the host takes the first. */
const FIRST_COUNTS = { mayRepeat: true };

async function endSession(link: HostLink, { id, headers }: LegacySession): Promise<void> {
  if (id !== undefined) await askWhole(link, { method: "DELETE", body: null, headers });
}
