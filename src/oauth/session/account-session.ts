import type { AuthorizeRequest, HeaderMap, ResponseHeaders } from "../../transport/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { OAuthConfig } from "../oauth-config.js";
import { AccountMemory, type Held, holdsExpired } from "./account-memory.js";
import { Authorization } from "./authorization.js";
import { NO_CHALLENGE } from "./authorization-plan.js";
import { ClientDesk } from "./client-desk.js";
import { EndpointDiscovery } from "./endpoint-discovery.js";
import { GrantShelf, type StoredGrant } from "./grant-shelf.js";
import { ProofMaker } from "./proof-maker.js";
import { classifyRefreshFailure, giveBack, requestRefresh } from "./refresh-request.js";
import { Refresher, type Renewal } from "./refresher.js";
import { uniteScopes } from "../scope-set.js";
import { cancelled, codeOf } from "./session-failures.js";
import type { AccountEvent, SessionParts } from "./session-parts.js";
import { waitFor, withinMs } from "./waiting.js";

/** After a refresh that failed for the moment, a token that is still good is sent for so long without another attempt. */
const REFRESH_REST_MS = 5_000;

/** After an authorization that was of no use, nobody is asked for so long because of a request. */
const ASKING_REST_MS = 30_000;

/** How long closing waits for a refresh to be stored. */
const CLOSING_MS = 5_000;

const NOTHING_REPEATED = { issuer: undefined, scopes: [] } as const;

/** A token that is about to expire is replaced without anything that a server said. */
const EXPIRES = { challenge: NO_CHALLENGE, scopes: [], isExplicit: false } as const;

/** Everything of one account at one endpoint: its tokens, and the ways to others. */
export class AccountSession {
  readonly parts: SessionParts;
  readonly authorization: Authorization;
  readonly proofs: ProofMaker;
  readonly #refresher: Refresher;
  readonly #closing = new AbortController();
  #refreshRestsUntil = -Infinity;
  #askingRestsUntil = -Infinity;
  /** What goes on here beside refreshes and authorizations. */
  #guests = 0;
  /** Scopes that one issuer authorized again although it had before, since the last sign-in; `""`: none was named. */
  #repeated: { readonly issuer: string | undefined; readonly scopes: readonly string[] } = NOTHING_REPEATED;

  constructor(endpoint: string, account: string, config: OAuthConfig) {
    const closed = this.#closing.signal;
    const shelf = new GrantShelf(endpoint, account, config.store.credentials, config.wallNow);
    const discovery = new EndpointDiscovery(endpoint, config, closed);
    const tell = (event: AccountEvent): void => config.onEvent({ endpoint, account, ...event });
    const memory = new AccountMemory(shelf, config.clock);
    const desk = new ClientDesk(endpoint, config, () => discovery.requester());
    const parts: SessionParts = { config, shelf, memory, discovery, desk, tell, closed };
    this.parts = parts;
    this.authorization = new Authorization(parts, () => this.restAsking());
    this.proofs = new ProofMaker(config);
    const { clock, leaseMs, randomBytes, store, wallNow } = config;
    this.#refresher = new Refresher({
      shelf,
      memory,
      clock,
      leaseMs,
      randomBytes,
      wallNow,
      signal: closed,
      leases: store.leases,
      canRefresh: (record) => this.canRefresh(record),
      request: (record, refreshToken) => requestRefresh(record, refreshToken, parts, this.proofs),
      classify: classifyRefreshFailure,
      forgetClient: ({ client }) => desk.forget(client),
      ended: (renewal) => this.#onRenewal(renewal),
      discard: (record, tokens) => void giveBack({ ...record, tokens }, parts),
    });
  }

  /** Whether something is under way that others may come to wait for. */
  get isBusy(): boolean {
    return this.#guests > 0 || this.authorization.isBusy || this.#refresher.isBusy;
  }

  /** Does something during which the session counts as busy, so that nobody closes it to make room. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#guests += 1;
    try {
      return await work();
    } finally {
      this.#guests -= 1;
    }
  }

  /** What a request goes out with: at once, where nothing has to be read, renewed or signed first. */
  headers(request: AuthorizeRequest): HeaderMap | undefined | Promise<HeaderMap | undefined> {
    const held = this.parts.memory.peek();
    if (held === undefined || this.#isDue(held)) return this.during(() => this.#prepare(request));
    const isBound = held.headers === undefined && held.grant?.record.tokens !== undefined;
    return isBound ? this.#prove(held, request) : held.headers;
  }

  /** Replaces an access token without a person. Rejects as the store does, and with `cancelled` when the session is closed meanwhile. */
  renew(accessToken: string): Promise<Renewal> {
    return waitFor(this.#refresher.renew(accessToken), this.parts.closed);
  }

  /** Nobody is asked for a while because of a request. */
  restAsking(): void {
    if (this.parts.config.grant === undefined) this.#askingRestsUntil = this.parts.config.clock.now() + ASKING_REST_MS;
  }

  get isAskingResting(): boolean {
    return this.parts.config.clock.now() < this.#askingRestsUntil;
  }

  /** Scopes that need not be asked for again. */
  get repeatedScopes(): readonly string[] {
    const { issuer, scopes } = this.#repeated;
    return issuer === this.#issuer ? scopes : [];
  }

  /** These were authorized once more. */
  rememberRepeated(scopes: readonly string[]): void {
    this.#repeated = { issuer: this.#issuer, scopes: uniteScopes(this.repeatedScopes, scopes) };
  }

  /** A person has signed in by their own wish: what was of no use before is tried again. */
  forgive(): void {
    this.#askingRestsUntil = -Infinity;
    this.#refreshRestsUntil = -Infinity;
    this.#repeated = NOTHING_REPEATED;
  }

  /** Whether there is a refresh token, and the client that it was issued to. */
  canRefresh({ client, tokens }: GrantRecord): boolean {
    return tokens?.refreshToken !== undefined && this.parts.desk.rejoin(client) !== undefined;
  }

  /** Takes the nonce of an answer. Whether a proof that is made now has another one than that of the request. */
  learn(url: string, headers: ResponseHeaders, proof?: string): boolean {
    return this.proofs.current?.learn(url, headers, proof) ?? false;
  }

  /** Forgets the tokens, here and at the authorization server. Whether there were any. */
  async signOut(): Promise<boolean> {
    const { memory, shelf, tell } = this.parts;
    this.authorization.signOut();
    const removed = await shelf.remove();
    if (removed === undefined || removed === "damaged") memory.take(undefined);
    else memory.forget(removed.generation);
    this.forgive();
    if (removed === undefined) return false;
    if (removed === "damaged") return true;
    const { record } = removed;
    tell({ kind: "signed_out", issuer: record.issuer });
    await giveBack(record, this.parts);
    return record.tokens !== undefined;
  }

  /**
   * Ends what is under way with `cancelled`. A refresh that was sent is given a while to be stored, though nobody waits for it: what it
   * was sent with may be of no use any more. So is a callback that was waited for, to be closed.
   */
  async close(): Promise<void> {
    this.#closing.abort(cancelled("closed"));
    const { clock } = this.parts.config;
    await withinMs(clock, CLOSING_MS, Promise.all([this.#refresher.finish(), this.authorization.finish()]));
    await this.parts.discovery.close();
  }

  /** Of what is stored. */
  get #issuer(): string | undefined {
    return this.parts.memory.last.grant?.record.issuer;
  }

  async #prepare(request: AuthorizeRequest): Promise<HeaderMap | undefined> {
    const { config, memory } = this.parts;
    this.parts.closed.throwIfAborted();
    const startedAt = config.wallNow();
    // A second time, since what others got may be about to expire as well.
    for (let attempts = 0; ; attempts += 1) {
      const held = memory.peek() ?? (await memory.readLeniently());
      const { grant } = held;
      const tokens = grant?.record.tokens;
      if (grant === undefined || tokens === undefined) return undefined;
      // What was issued just now is sent, however short its life is.
      const isNew = attempts > 0 && grant.writtenAt >= startedAt;
      if (isNew || attempts > 1 || !this.#isDue(held)) return held.headers ?? this.#prove(held, request);
      const failure = await this.#replaceInTime(grant, tokens.accessToken);
      if (failure === undefined) continue;
      if (!holdsExpired(memory.last, config.wallNow())) return memory.last.headers ?? this.#prove(memory.last, request);
      throw failure.error;
    }
  }

  /** Renews a token that is about to expire. `undefined`: there is something new to be looked at. */
  async #replaceInTime(grant: StoredGrant, accessToken: string): Promise<{ readonly error: unknown } | undefined> {
    const { config } = this.parts;
    if (this.canRefresh(grant.record)) {
      const renewal = await this.renew(accessToken);
      return renewal.kind === "failed" ? renewal : undefined;
    }
    try {
      await this.authorization.obtain({ ...EXPIRES, refusedToken: accessToken }, undefined);
      return undefined;
    } catch (error) {
      this.#refreshRestsUntil = config.clock.now() + REFRESH_REST_MS;
      return { error };
    }
  }

  #isDue(held: Held): boolean {
    const { clock, grant, wallNow } = this.parts.config;
    const { record } = held.grant ?? {};
    if (record === undefined || wallNow() < held.renewAt) return false;
    if (grant === undefined && !this.canRefresh(record)) return false;
    return clock.now() >= this.#refreshRestsUntil || holdsExpired(held, wallNow());
  }

  async #prove(held: Held, { httpMethod, url }: AuthorizeRequest): Promise<HeaderMap | undefined> {
    const { record } = held.grant ?? {};
    const { tokens } = record ?? {};
    if (record === undefined || tokens === undefined) return undefined;
    const { accessToken } = tokens;
    const prover = await this.proofs.proverOf(record);
    const proof = await prover?.proof({ method: httpMethod, url, accessToken });
    return { Authorization: `DPoP ${accessToken}`, ...(proof === undefined ? {} : { DPoP: proof }) };
  }

  #onRenewal(renewal: Renewal): void {
    const { config, tell } = this.parts;
    if (renewal.kind === "failed") this.#refreshRestsUntil = config.clock.now() + REFRESH_REST_MS;
    const issuer = this.#issuer;
    if (renewal.kind === "renewed") {
      const { record } = renewal.grant;
      const kind = renewal.by === "us" ? "token_refreshed" : "token_adopted";
      tell({ kind, issuer: record.issuer, expiresAt: record.tokens?.expiresAt });
    } else if (renewal.kind !== "none" && issuer !== undefined) {
      tell({ kind: "refresh_failed", issuer, code: codeOf(renewal.error) });
    }
  }
}
