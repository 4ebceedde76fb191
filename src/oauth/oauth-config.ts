import type { Clock } from "../transport/index.js";
import type { IdentityConfig } from "./identity/index.js";
import type { CallbackReceiver, OpenUrl } from "./interaction.js";
import type { OAuthEvent, OAuthStore, OAuthTransportOptions, ServiceGrant } from "./oauth-options.js";

/** `OAuthOptions` with nothing left open. */
export interface OAuthConfig {
  readonly clientName: string;
  readonly clientUri: string | undefined;
  readonly identity: IdentityConfig;
  readonly openUrl: OpenUrl | false;
  readonly callback: CallbackReceiver;
  readonly signInTimeoutMs: number;
  readonly grant: ServiceGrant | undefined;
  readonly scopes: readonly string[];
  readonly dpop: boolean;
  readonly sendsResource: boolean;
  readonly store: OAuthStore;
  /** Read once more for each endpoint, which decides about the addresses that are allowed. */
  readonly transport: OAuthTransportOptions;
  /** For one request. */
  readonly requestTimeoutMs: number;
  /** Longer than one request to an authorization server takes. */
  readonly leaseMs: number;
  /** Never throws. */
  readonly onEvent: (event: OAuthEvent) => void;
  readonly clock: Clock;
  readonly wallNow: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}
