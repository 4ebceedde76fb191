import type { AuthorizationServer, ServerMetadata } from "../authorization-server.js";
import { canonicalResource } from "../canonical-resource.js";
import { chooseIssuer, discoverResource, discoverServer } from "../discovery/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { OAuthConfig } from "../oauth-config.js";
import type { AuthorizationChallenge, ProtectedResource } from "../protected-resource.js";
import type { OAuthRequester } from "../requester.js";
import { createRequester, resolveRequester } from "../requests/index.js";
import { withinLimit } from "./discovery-limit.js";

/** What discovery led to. */
export interface Discovered {
  readonly resource: ProtectedResource;
  readonly server: AuthorizationServer;
}

/** How {@link EndpointDiscovery.discover} goes about it. */
export interface DiscoveryWish {
  /** Whether what was read a moment ago will do. */
  readonly cached: boolean;
  /** The issuers where a client was registered by hand. */
  readonly preRegistered: () => Promise<readonly string[]>;
  /** Told when the resource does not name the issuer of what is stored any more, and which one is gone to in its place. */
  readonly onLeft: (issuer: string) => Promise<void>;
}

/** What was found may be used again for so long by whoever only wants to say who would be asked, and by grants without a person. */
const FOUND_MAX_AGE_MS = 60_000;

/** A resource of which nothing but its authorization server matters. */
const UNKNOWN = { resource: undefined, scopesSupported: undefined, needsDpop: false } as const;

type Requester = ReturnType<typeof createRequester>;

/** What is published of one MCP endpoint's authorization, and the requester for it. */
export class EndpointDiscovery {
  readonly endpoint: URL;
  readonly #config: OAuthConfig;
  readonly #signal: AbortSignal;
  #requester: Promise<Requester> | undefined;
  #looking: Promise<ProtectedResource> | undefined;
  #found: { readonly at: number; readonly discovered: Discovered } | undefined;
  /** The challenge that named a place for the metadata last: who signs in without one goes by it. */
  #challenge: AuthorizationChallenge | undefined;

  constructor(endpoint: string, config: OAuthConfig, signal: AbortSignal) {
    this.endpoint = new URL(endpoint);
    this.#config = config;
    this.#signal = signal;
  }

  /** The one way out for everything of this endpoint. Rejects with `invalid_options`. */
  requester(): Promise<OAuthRequester> {
    this.#requester ??= resolveRequester(this.endpoint, this.#config.transport, this.#config.clock)
      .then(createRequester)
      .catch((error: unknown) => {
        this.#requester = undefined;
        throw error;
      });
    return this.#requester;
  }

  /** The resource's metadata as they are now; whoever asks while they are read gets the same. Rejects as discovery does. */
  look(challenge: AuthorizationChallenge): Promise<ProtectedResource> {
    if (challenge.resourceMetadata.length > 0) this.#challenge = challenge;
    this.#looking ??= this.#readResource().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /**
   * The resource, and the authorization server to go to: that of what is stored, if the resource still names it, or names none. Read anew,
   * unless `cached` says that what was read a moment ago will do. Rejects as discovery does.
   */
  async discover(
    challenge: AuthorizationChallenge,
    record: GrantRecord | undefined,
    { cached, onLeft, preRegistered }: DiscoveryWish,
  ): Promise<Discovered> {
    if (challenge.resourceMetadata.length > 0) this.#challenge = challenge;
    const recent = cached ? this.#recent(record) : undefined;
    if (recent !== undefined) return recent;
    const resource = await this.look(challenge);
    const before = recordThatCounts(resource, record);
    const issuer =
      before?.issuer ??
      chooseIssuer(resource, {
        withTokens: record === undefined ? [] : [record.issuer],
        preRegistered: await preRegistered(),
      });
    // Before the other one is asked: whether it answers or not, what is of the former is of no use any more.
    if (record !== undefined && !stillNames(resource, record.issuer)) await onLeft(issuer);
    const server = await this.#readServer(resource, issuer);
    const discovered = {
      resource: before === undefined ? resource : { ...resource, resource: before.resource },
      server,
    };
    this.#found = { at: this.#config.clock.now(), discovered };
    return discovered;
  }

  /** What was found a moment ago, but for what is stored of another issuer, which is newer than that. */
  #recent(record: GrantRecord | undefined): Discovered | undefined {
    if (this.#found === undefined) return undefined;
    const { at, discovered } = this.#found;
    const isOfUse = record === undefined || record.issuer === discovered.server.metadata.issuer;
    return isOfUse && this.#config.clock.now() - at < FOUND_MAX_AGE_MS ? discovered : undefined;
  }

  /** The metadata of an issuer that tokens came from, whatever the resource says now. Rejects as discovery does. */
  async serverOf(issuer: string): Promise<ServerMetadata> {
    const known = this.#found?.discovered.server.metadata;
    if (known?.issuer === issuer) return known;
    const resource = { ...UNKNOWN, source: this.endpoint.href, authorizationServers: [issuer] };
    return (await this.#readServer(resource, issuer)).metadata;
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#requester?.then((requester) => requester.close()).catch(() => undefined);
  }

  async #readResource(): Promise<ProtectedResource> {
    const requester = await this.requester();
    const resource = await this.#within((signal) =>
      discoverResource(requester, this.endpoint, this.#challenge, signal),
    );
    const found = this.#found?.discovered.server.metadata.issuer;
    if (found !== undefined && !stillNames(resource, found)) this.#found = undefined;
    return resource;
  }

  async #readServer(resource: ProtectedResource, issuer: string): Promise<AuthorizationServer> {
    const requester = await this.requester();
    return this.#within((signal) => discoverServer(requester, issuer, resource, signal));
  }

  #within<T>(look: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, requestTimeoutMs } = this.#config;
    return withinLimit(clock, requestTimeoutMs, this.#signal, look);
  }
}

/**
 * What is stored, where it says more than a resource that publishes nothing now: what that leads to is no other issuer, but a guess. With a
 * slash at its end or without, the guess is the same. Pure.
 */
function recordThatCounts(
  { authorizationServers, source }: ProtectedResource,
  record: GrantRecord | undefined,
): GrantRecord | undefined {
  if (source !== undefined || record === undefined) return undefined;
  const isGuessed = authorizationServers.some((guess) => record.issuer === guess || record.issuer === `${guess}/`);
  return isGuessed ? undefined : record;
}

/**
 * Whether a resource still names the issuer of a token. One that publishes nothing now says nothing against it: its server may have been
 * one of 2025-03-26 all along, or be about to come back. Pure.
 */
export function stillNames({ authorizationServers, source }: ProtectedResource, issuer: string): boolean {
  return source === undefined || authorizationServers.includes(issuer);
}

/** What is sent as `resource`: what was published, character by character, or else the endpoint itself; `undefined`: nothing. Pure. */
export function resourceToSend(
  endpoint: URL,
  { resource }: ProtectedResource,
  sendsResource: boolean,
): string | undefined {
  if (!sendsResource) return undefined;
  return resource ?? canonicalResource(endpoint);
}
