import type { RemoteConnectorError } from "../../../errors.js";
import type { JsonObject } from "../../../protocol/index.js";
import type { AnswerAsk, InputRelay } from "../../../protocol/input/index.js";
import { type Clock, closedError, failureOf, NOTHING_SENT } from "../../../transport/index.js";
import { CallAsks } from "./call-asks.js";
import type { LeasedServer } from "./device-leases.js";
import { LeasedClient } from "./leased-client.js";

export interface LeasedConnectionParts {
  /** Whose calls it is for. */
  readonly holder: object;
  /** Its capabilities as text: the same for the same ones. */
  readonly declared: string;
  readonly capabilities: JsonObject;
  /** Told when it ends by itself. */
  readonly onBroken: () => void;
}

/** One connection over which a server may ask, from the wish for it until nothing of it is left. */
export class LeasedConnection {
  readonly holder: object;
  readonly declared: string;
  readonly #capabilities: JsonObject;
  readonly #asks: CallAsks;
  readonly #onBroken: () => void;
  #opening: Promise<LeasedServer> | undefined;
  #client: LeasedClient | undefined;
  /**
   * Also set by a call of which nothing is known, by one that was answered while its caller was being asked, and by a question that
   * belongs to no call: what its server still asks must not become the next one's.
   */
  #isBroken = false;
  /** Set while no call has it. */
  #cancelIdle: (() => void) | undefined;

  constructor({ holder, declared, capabilities, onBroken }: LeasedConnectionParts) {
    this.holder = holder;
    this.declared = declared;
    this.#capabilities = capabilities;
    this.#asks = new CallAsks(capabilities, () => (this.#isBroken = true));
    this.#onBroken = onBroken;
  }

  get isIdle(): boolean {
    return this.#cancelIdle !== undefined;
  }

  /** Whether another call may have it. */
  get isUsable(): boolean {
    return !this.#isBroken && this.#client?.era === "legacy";
  }

  /** Throws `cancelled` (`not_sent`) while it is not open. */
  get client(): LeasedClient {
    if (this.#client === undefined) throw closedError();
    return this.#client;
  }

  /** Opens it for a call: what its server asks meanwhile is that call's, too. Rejects with what `open` rejects with. */
  async open(open: (relay: InputRelay) => Promise<LeasedServer>, answer: AnswerAsk): Promise<void> {
    this.beginCall(answer);
    this.#opening = open(this.#asks.relay);
    const { client, exited } = await this.#opening;
    this.#client = new LeasedClient(client, () => (this.#isBroken = true));
    const broken = (): void => {
      this.#isBroken = true;
      this.#onBroken();
    };
    void exited.then(broken, broken);
  }

  beginCall(answer: AnswerAsk): void {
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    this.#asks.begin({ capabilities: this.#capabilities, answer });
  }

  /** Whatever the server asks from now on is declined. */
  endCall(): void {
    if (this.#asks.isAsking) this.#isBroken = true;
    this.#asks.end();
  }

  /** No call has it now. */
  waitForCall(clock: Clock, idleMs: number, onOver: () => void): void {
    this.#cancelIdle = clock.schedule(idleMs, onOver);
  }

  /** Why it could not be opened, to the call that it was to be for, of which nothing was sent. */
  openingFailure(error: unknown): RemoteConnectorError {
    return failureOf(error).withEvidence("not_sent", NOTHING_SENT);
  }

  /** Resolves when nothing of it is left. Never rejects. */
  async close(): Promise<void> {
    this.#asks.end();
    this.#cancelIdle?.();
    this.#cancelIdle = undefined;
    try {
      const opened = await this.#opening;
      await opened?.client.close();
    } catch {
      // It was never open.
    }
  }
}
