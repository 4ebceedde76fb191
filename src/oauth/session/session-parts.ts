import type { OAuthConfig } from "../oauth-config.js";
import type { OAuthEvent } from "../oauth-options.js";
import type { AccountMemory } from "./account-memory.js";
import type { ClientDesk } from "./client-desk.js";
import type { EndpointDiscovery } from "./endpoint-discovery.js";
import type { GrantShelf } from "./grant-shelf.js";

/** An event without the endpoint and the account, which are added. */
export type AccountEvent = OAuthEvent extends infer E
  ? E extends OAuthEvent
    ? Omit<E, "endpoint" | "account">
    : never
  : never;

/** What everything of one account at one endpoint works with. */
export interface SessionParts {
  readonly config: OAuthConfig;
  readonly shelf: GrantShelf;
  readonly memory: AccountMemory;
  readonly discovery: EndpointDiscovery;
  readonly desk: ClientDesk;
  readonly tell: (event: AccountEvent) => void;
  /** Ends with the account's session. */
  readonly closed: AbortSignal;
}
