import type { McpClient } from "../../../connect/index.js";
import type { CallLeases, RemoteMcpClient } from "../../factories/index.js";
import { BoundClient } from "./bound-client.js";
import type { DeviceLeases } from "./device-leases.js";

/** The client of a connector that is opened for being asked: the plain one, with the leases of a legacy server. */
export class LeasingClient extends BoundClient {
  readonly #leases: DeviceLeases;

  constructor(client: McpClient, leases: DeviceLeases) {
    super(client);
    this.#leases = leases;
  }

  /** A modern server is told with each request whom it may ask. */
  get leases(): CallLeases<RemoteMcpClient> | undefined {
    return this.era === "legacy" ? this.#leases : undefined;
  }

  override async close(): Promise<void> {
    await Promise.all([this.#leases.close(), super.close()]);
  }
}
