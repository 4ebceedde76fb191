/** What an account's requests to an upstream are authorized with. */
export interface Credential {
  /** In UTF-8. Zeroed when the credential is given up. */
  readonly secret: Buffer;
  /** In UTF-8. Zeroed likewise. */
  readonly refreshToken: Buffer | undefined;
  /** By the gateway's clock: when it should be replaced, a little before it expires. `undefined` when it needn't. */
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
