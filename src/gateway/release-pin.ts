import { RpcCode } from "../protocol/index.js";
import {
  headerValue,
  type HeaderFields,
  type ModernCall,
  type Refusal,
  refuse,
  refuseHeader,
} from "../serving/index.js";

/**
 * Checks that a request is meant for the connector version that is served: the header and the member of `_meta` must both
 * name it. 400 with `-32020` when one is missing or they differ, 409 with `-33003` when they agree on another version.
 * Pure.
 */
export function checkReleasePin(
  headers: HeaderFields,
  call: Pick<ModernCall, "id" | "meta">,
  names: { readonly versionHeader: string; readonly versionMetaKey: string },
  published: string,
): Refusal | undefined {
  const { versionHeader, versionMetaKey } = names;
  const pinned = headerValue(headers, versionHeader.toLowerCase());
  if (pinned === undefined) return refuseHeader(call.id, versionHeader, "is missing");
  const { members } = call.meta;
  const requested = Object.hasOwn(members, versionMetaKey) ? members[versionMetaKey] : undefined;
  if (typeof requested !== "string") {
    return refuseHeader(
      call.id,
      versionHeader,
      `has no counterpart: _meta[${JSON.stringify(versionMetaKey)}] is missing`,
    );
  }
  if (pinned !== requested) return refuseHeader(call.id, versionHeader, "does not equal the body");
  if (requested === published) return undefined;
  const data = { reason: "release_mismatch", published, requested };
  return refuse(409, call.id, RpcCode.connectorUnavailable, "Another version of the connector is served", data);
}
