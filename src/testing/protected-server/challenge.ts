import { type JsonAnswer } from "../authorization-server/index.js";
import type { Refusal } from "./access.js";

/** A refusal as it is answered. Pure. Source: RFC 6750, WWW-Authenticate; RFC 9728, Use of WWW-Authenticate. */
export function answerRefusal(refusal: Refusal, metadataUrl: string | undefined): JsonAnswer {
  const { error, nonce, scheme, scopes, status } = refusal;
  const parameters = {
    error,
    scope: scopes.length === 0 ? undefined : scopes.join(" "),
    resource_metadata: metadataUrl,
    algs: scheme === "DPoP" ? "ES256" : undefined,
  };
  const written = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const challenge = [scheme, written.map(([name, value]) => `${name}="${String(value)}"`).join(", ")].join(" ").trim();
  return {
    status,
    body: error === undefined ? undefined : { error },
    headers: { "WWW-Authenticate": challenge, ...(nonce === undefined ? {} : { "DPoP-Nonce": nonce }) },
  };
}
