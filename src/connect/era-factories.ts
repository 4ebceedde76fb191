import type { RemoteConnectorError } from "../errors.js";
import type { LegacyClient } from "../legacy-client/index.js";
import type { ModernClient } from "../modern-client/index.js";
import type { LegacyRevision, Notification } from "../protocol/index.js";
import type { OpeningOperation } from "./opening-operation.js";

/** How a legacy client is opened. */
export interface LegacyOpening {
  /** The preferred one first. */
  readonly revisions: readonly LegacyRevision[];
  readonly signal: AbortSignal;
  readonly onNotification: (notification: Notification) => unknown;
  readonly opening: OpeningOperation;
}

/** An open legacy client, and the error of its end, when it can end by itself. */
export interface OpenLegacy {
  readonly client: LegacyClient;
  readonly ended: Promise<RemoteConnectorError> | undefined;
}

/** Makes the clients of both eras for one server. */
export interface EraFactories {
  readonly over: "http" | "stdio";
  /** Throws what the client's constructor throws. Opens nothing. */
  readonly openModern: (opening?: OpeningOperation) => ModernClient;
  readonly openLegacy: (opening: LegacyOpening) => Promise<OpenLegacy>;
}
