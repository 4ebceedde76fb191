import type { GatewayConnector } from "../options.js";

/** What an account's requests to an upstream are authorized with. */
export interface Credential {
  /** In UTF-8. Zeroed when the credential is given up. */
  readonly secret: Buffer;
  /** In UTF-8. Zeroed likewise. */
  readonly refreshToken: Buffer | undefined;
  /**
   * By the gateway's clock: when it has to be replaced. A little before it expires where a refresh token does that, else when it
   * expires. `undefined` when it needn't.
   */
  readonly renewAtMs: number | undefined;
}

/** A credential that lasts until somebody takes it back. */
export function lastingCredential(secret: Buffer): Credential {
  return { secret, refreshToken: undefined, renewAtMs: undefined };
}

/** Overwrites a credential. Copies that were made of it, such as a header, are beyond reach. */
export function wipeCredential({ refreshToken, secret }: Credential): void {
  secret.fill(0);
  refreshToken?.fill(0);
}

/** Whether the connector's server can be given this: as a header's value in printable ASCII, or as an environment variable. Pure. */
export function canCarry({ upstream }: Pick<GatewayConnector, "upstream">, secret: Buffer): boolean {
  const text = secret.toString("utf8");
  return upstream.kind === "http" ? /^[!-~](?:[ -~]*[!-~])?$/.test(text) : text !== "" && !text.includes("\0");
}
