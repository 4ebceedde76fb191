import { parseEndpoint } from "../../transport/index.js";
import type { OAuthConfig } from "../oauth-config.js";
import { AccountSession } from "./account-session.js";
import { PendingSignIns } from "./pending-sign-ins.js";
import { cancelled } from "./session-failures.js";

/** More accounts at a time are no help: what is forgotten of one is in the store. */
const MAX_SESSIONS = 256;

/** The sessions of all accounts at all endpoints: made when they are needed, a bounded number of them. */
export class SessionBook {
  /** The sign-ins of all of them whose browsers others receive. */
  readonly pending: PendingSignIns;
  readonly #config: OAuthConfig;
  /** The one that was looked for last is the last. */
  readonly #sessions = new Map<string, AccountSession>();
  #closed: Promise<void> | undefined;

  constructor(config: OAuthConfig) {
    this.#config = config;
    this.pending = new PendingSignIns(config.clock, config.signInTimeoutMs);
  }

  /** Throws `invalid_url` for what is no endpoint, and `cancelled` once closed. */
  get(endpoint: string | URL, account: string): AccountSession {
    this.assertOpen();
    const href = normalEndpoint(endpoint);
    const key = JSON.stringify([href, account]);
    const session = this.#sessions.get(key) ?? new AccountSession(href, account, this.#config);
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    if (this.#sessions.size > MAX_SESSIONS) this.#forgetOne(key);
    return session;
  }

  /** Throws `cancelled` once closed. */
  assertOpen(): void {
    if (this.#closed !== undefined) throw cancelled("closed");
  }

  /** Ends what is under way with `cancelled`. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= Promise.all([...this.#sessions.values()].map((session) => session.close())).then(() => undefined);
    this.#sessions.clear();
    this.pending.clear();
    return this.#closed;
  }

  /** The one that nobody looked for in the longest time, of those where nothing is under way. */
  #forgetOne(newest: string): void {
    for (const [key, session] of this.#sessions) {
      if (key === newest || session.isBusy) continue;
      this.#sessions.delete(key);
      void session.close();
      return;
    }
  }
}

/**
 * The URL of an MCP server as its tokens are kept under it: in its normal form, without a fragment. Whether plain http will do is for
 * the client that connects. Throws `invalid_url`.
 */
export function normalEndpoint(endpoint: string | URL): string {
  const text = String(endpoint);
  return parseEndpoint(text.includes("#") ? text.slice(0, text.indexOf("#")) : text, { allowInsecureHttp: true }).href;
}
