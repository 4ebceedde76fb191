import type { MessageChannel } from "../../protocol/index.js";
import type { CallTelemetry, ExchangeResult, ExchangeTelemetry } from "../../transport/index.js";
import type { CallSpec } from "../connection.js";
import { encodeTold, tellOf } from "../told-request.js";
import type { OpenSessionCall, SessionCallHost } from "./session-call-ports.js";

type RequestHost = Pick<SessionCallHost, "channel" | "telemetry" | "revision">;

/** The JSON-RPC request of a call: each time that it is posted, with another id, and told of anew. */
export class CallRequest {
  readonly #host: RequestHost;
  readonly #spec: CallSpec<unknown>;
  readonly #channel: MessageChannel<OpenSessionCall>;
  readonly #telemetry: CallTelemetry | undefined;
  #told: ExchangeTelemetry | undefined;
  #id: number;
  #body: string;
  /** How often it was posted. */
  #posts = 0;

  /** Throws `invalid_argument` (`not_sent`) for what can't be sent. */
  constructor(host: RequestHost, spec: CallSpec<unknown>) {
    this.#host = host;
    this.#spec = spec;
    this.#channel = host.channel;
    this.#telemetry = host.telemetry.call();
    this.#id = host.channel.takeId();
    this.#body = this.#encode(1);
  }

  get id(): number {
    return this.#id;
  }

  get body(): string {
    return this.#body;
  }

  /** It is posted as the call's exchange of this number: from now on it can be answered. */
  open(call: OpenSessionCall, attempt: number): void {
    if (this.#posts > 0) {
      this.close();
      this.#id = this.#channel.takeId();
      this.#body = this.#encode(attempt);
    }
    this.#posts += 1;
    this.#channel.open(this.#id, call);
  }

  /** Tells what it came to. Only the first end counts. */
  tell(result: ExchangeResult): void {
    this.#told?.end(result);
  }

  /** Nobody waits for its answer any more. */
  close(): void {
    this.#channel.close(this.#id);
  }

  #encode(attempt: number): string {
    this.#told = tellOf(this.#telemetry, this.#spec, { id: this.#id, attempt, protocolVersion: this.#host.revision });
    return encodeTold(this.#spec, this.#id, this.#told);
  }
}
