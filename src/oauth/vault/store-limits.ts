import { RemoteConnectorError } from "../../errors.js";
import { countOption } from "../../options.js";

/** What a store of this folder holds at most: as much as one of `openSharedStore`. */
export interface VaultLimits {
  /** Credentials, of all resources together. 1,000. */
  readonly maxCredentials?: number | undefined;
  /** Bytes of one credential's text in UTF-8. 64 KiB. */
  readonly maxCredentialBytes?: number | undefined;
}

/** {@link VaultLimits} with nothing left open. */
export interface VaultBounds {
  readonly maxCredentials: number;
  readonly maxCredentialBytes: number;
}

export const LIMIT_NAMES = ["maxCredentialBytes", "maxCredentials"] as const;

/** The limits with their defaults. Throws `invalid_options`. */
export function resolveVaultLimits({ maxCredentials, maxCredentialBytes }: VaultLimits): VaultBounds {
  return {
    maxCredentials: countOption("maxCredentials", maxCredentials, 1_000),
    maxCredentialBytes: countOption("maxCredentialBytes", maxCredentialBytes, 64 * 1024),
  };
}

/** Throws `limit_exceeded` for a text that is too long. */
export function assertLength(text: string, { maxCredentialBytes: limit }: VaultBounds): void {
  if (Buffer.byteLength(text, "utf8") > limit)
    throw exceeded("maxCredentialBytes", limit, "The credential is too long");
}

/** Throws `limit_exceeded` when one more credential would be too many. */
export function assertRoom(count: number, { maxCredentials: limit }: VaultBounds): void {
  if (count >= limit) throw exceeded("maxCredentials", limit, "There are too many credentials");
}

function exceeded(option: string, limit: number, message: string): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `${message}: ${String(limit)} is the limit (${option}).`,
    details: { option, limit },
  });
}
