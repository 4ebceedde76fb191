import type { McpClient } from "../../../connect/index.js";
import type { JsonObject } from "../../../protocol/index.js";
import type { CallLease, CallLeaseRequest, RemoteMcpClient } from "../../factories/index.js";
import type { CallAsks } from "./call-asks.js";
import type { DeviceLeases } from "./device-leases.js";
import { FairTurns } from "./fair-turns.js";
import { LeasedClient } from "./leased-client.js";
import { commonCapabilities } from "./lease-capabilities.js";

export interface SingleLeasePorts {
  /** The only client of the program. */
  readonly client: McpClient;
  /** Whom its server asks. What it declares is all that the connector is opened for. */
  readonly asks: CallAsks;
  readonly maxWaitingLeases: number;
}

/** How long a server is waited for that may still be at a call which was given up. */
const SETTLE_TIMEOUT_MS = 5_000;

/**
 * The turns on the only connection of a program: one call at a time, whoever makes it, since nothing on that connection says which of
 * two calls a request is about.
 *
 * After a call that was given up, or answered while its caller was being asked, the next one waits until the server has answered a ping: by
 * then it has heard that the call is over, and what it asked before that has come, and was declined.
 */
export class SingleLease implements DeviceLeases {
  readonly #ports: SingleLeasePorts;
  readonly #offered: JsonObject;
  readonly #turns: FairTurns;
  readonly #client: LeasedClient;
  /** Set where the server may still be at the call that has the turn. */
  #isGivenUp = false;

  constructor(ports: SingleLeasePorts) {
    const { asks, client, maxWaitingLeases } = ports;
    this.#ports = ports;
    this.#client = new LeasedClient(client, () => (this.#isGivenUp = true));
    this.#offered = asks.relay.capabilities;
    this.#turns = new FairTurns({ turns: 1, maxWaitingLeases });
  }

  /** Rejects as {@link FairTurns.take} does. */
  async acquire({ capabilities, answer, signal }: CallLeaseRequest): Promise<CallLease<RemoteMcpClient>> {
    await this.#turns.take(signal);
    const { asks } = this.#ports;
    asks.begin({ capabilities: commonCapabilities(this.#offered, capabilities), answer });
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      if (asks.isAsking) this.#isGivenUp = true;
      asks.end();
      if (this.#isGivenUp) void this.#settle();
      else this.#turns.give();
    };
    return { client: this.#client, release };
  }

  async #settle(): Promise<void> {
    this.#isGivenUp = false;
    try {
      await this.#ports.client.request("ping", undefined, { totalTimeoutMs: SETTLE_TIMEOUT_MS });
    } catch {
      // Whoever is next finds out what is the matter with it.
    }
    this.#turns.give();
  }

  close(): Promise<void> {
    this.#turns.close();
    return Promise.resolve();
  }
}
