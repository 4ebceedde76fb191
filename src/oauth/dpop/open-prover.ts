import type { CryptoKey, JWK } from "jose";
import { RemoteConnectorError } from "../../errors.js";
import type { DpopProver } from "../dpop-prover.js";
import { algorithmOf, chooseDpopAlgorithm } from "./algorithm.js";
import { KeyProver, type ProverPorts } from "./key-prover.js";

/** What a new prover is made of. */
export interface DpopProverOptions extends ProverPorts {
  /** The authorization server's `dpop_signing_alg_values_supported`; `undefined`: it does not say. */
  readonly algorithms: readonly string[] | undefined;
}

/**
 * Makes a key, which comes from the platform's own random source, and a prover with it. Rejects with `unsupported` when the
 * authorization server takes none of the algorithms that are known here. Source: RFC 9449.
 */
export async function createDpopProver({ algorithms, ...ports }: DpopProverOptions): Promise<DpopProver> {
  const algorithm = chooseDpopAlgorithm(algorithms);
  if (algorithm === undefined) {
    throw new RemoteConnectorError("unsupported", {
      message: "The authorization server takes no DPoP algorithm that is known here.",
      details: { feature: "dpop_signing_alg_values_supported" },
    });
  }
  const jose = await import("jose");
  const { privateKey } = await jose.generateKeyPair(algorithm, { extractable: true });
  return new KeyProver(jose, { algorithm, privateKey, jwk: await jose.exportJWK(privateKey) }, ports);
}

/** A prover with a key that was kept. Rejects with `oauth_invalid` for one that can't sign; nothing of the key is shown. */
export async function openDpopProver(
  jwk: Readonly<Record<string, unknown>>,
  { randomBytes, wallNow }: ProverPorts,
): Promise<DpopProver> {
  const key: JWK = { ...jwk };
  const algorithm = algorithmOf(key);
  if (algorithm === undefined || typeof key.d !== "string")
    throw unusableKey("no private key of an algorithm known here");
  const jose = await import("jose");
  let privateKey: CryptoKey | Uint8Array;
  try {
    privateKey = await jose.importJWK(key, algorithm);
  } catch {
    // What the platform says of a key may repeat some of it.
    throw unusableKey("it can't be read");
  }
  if (privateKey instanceof Uint8Array) throw unusableKey("not a key pair");
  return new KeyProver(jose, { algorithm, privateKey, jwk: key }, { randomBytes, wallNow });
}

function unusableKey(reason: string): RemoteConnectorError<"oauth_invalid"> {
  return new RemoteConnectorError("oauth_invalid", {
    message: "The key that tokens are bound to can't be used.",
    details: { subject: "credential", url: "", member: "dpopKey", reason },
  });
}
