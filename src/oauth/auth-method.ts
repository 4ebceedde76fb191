import type { ClientAuthMethod } from "./oauth-client.js";

/** What is known of how a client may authenticate. */
export interface AuthMethodFacts {
  /** What the answer to its registration says, or what it was registered with by hand; any word. */
  readonly registered?: string | undefined;
  /** What its registration asked for. */
  readonly asked?: ClientAuthMethod | undefined;
  /** `token_endpoint_auth_methods_supported`, as published. */
  readonly supported: readonly string[] | undefined;
  readonly hasSecret: boolean;
  readonly hasKey: boolean;
}

/** The order in which methods are preferred. A client that can prove who it is does so before it goes without. */
const PREFERRED = [
  "client_secret_basic",
  "client_secret_post",
  "private_key_jwt",
  "none",
] as const satisfies readonly ClientAuthMethod[];

/**
 * How a client authenticates: as it was registered, else as it asked for, else the first that the server lists and the client can do. A
 * method is never chosen that the client lacks the secret or the key for. Where nothing that is listed will do, or there is no list, it
 * is the first that the client can do: many servers take more than they list, and `client_secret_basic` is what no list stands for.
 *
 * Source: RFC 7591, Client Metadata; RFC 8414, Authorization Server Metadata.
 */
export function chooseAuthMethod(facts: AuthMethodFacts): ClientAuthMethod {
  const able = PREFERRED.filter((method) => canDo(method, facts));
  const told = [facts.registered, facts.asked].map((word) => able.find((method) => method === word));
  return told[0] ?? told[1] ?? able.find((method) => facts.supported?.includes(method) === true) ?? able[0] ?? "none";
}

function canDo(method: ClientAuthMethod, { hasKey, hasSecret }: AuthMethodFacts): boolean {
  if (method === "none") return true;
  return method === "private_key_jwt" ? hasKey : hasSecret;
}
