import { createHash } from "node:crypto";
import { headerValue, type HeaderFields } from "../serving/index.js";
import type { GatewayAccount } from "./options.js";

/** Finds the account behind a session cookie. Holds hashes, never the sessions themselves. */
export class Sessions {
  readonly #cookie: string;
  readonly #accounts = new Map<string, string>();

  constructor(cookie: string, accounts: readonly GatewayAccount[]) {
    this.#cookie = cookie;
    for (const { accountId, sessions } of accounts) {
      for (const session of sessions) this.#accounts.set(hash(session), accountId);
    }
  }

  /** The account that the request's cookie speaks for, or `undefined`. Of two cookies of the name the first counts. */
  accountOf(headers: HeaderFields): string | undefined {
    const session = readCookie(headerValue(headers, "cookie") ?? "", this.#cookie);
    return session === undefined ? undefined : this.#accounts.get(hash(session));
  }
}

/** Looked up by hash, so that the time that a look-up takes says nothing about a session. */
function hash(session: string): string {
  return createHash("sha256").update(session, "utf8").digest("base64");
}

/** The value of one cookie in a `Cookie` header, or `undefined`. Source: RFC 6265, The Cookie Header. */
export function readCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(";")) {
    const separator = pair.indexOf("=");
    if (separator !== -1 && pair.slice(0, separator).trim() === name) return pair.slice(separator + 1).trim();
  }
  return undefined;
}
