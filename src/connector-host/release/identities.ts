import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical-json.js";
import type { Release } from "./parse-release.js";

const CONNECTION_ID_BYTES = 16;

/** The release's identity: the SHA-256 of its canonical JSON, as 64 lower-case hex digits. */
export function releaseDigest(release: Release): string {
  return createHash("sha256").update(canonicalJson(release), "utf8").digest("hex");
}

/**
 * The local connection id of a remote connector: stable for (account, connector), whatever connection of the account the
 * server has as its default. `connectorKey` must be a connector key; such a key holds no NUL, so that no two pairs meet.
 */
export function localConnectionId(accountId: string, connectorKey: string): string {
  const digest = createHash("sha256").update(`${accountId}\0${connectorKey}`, "utf8").digest();
  return `account-${digest.subarray(0, CONNECTION_ID_BYTES).toString("hex")}`;
}
