import { RemoteConnectorError } from "../errors.js";
import { deliveryByStatus, hintsOf, type HttpAnswer, type ResponseHeaders, snippetOf } from "../transport/index.js";
import { parseSnapshot, type Snapshot } from "./parse-snapshot.js";

/**
 * The snapshot that an answer of the control plane holds.
 *
 * Throws `account_not_ready` for 401 and 403, `redirect_refused` for any 3xx, `unexpected_answer` for every other status
 * but 200, and `invalid_snapshot` for a body that can't be read. Delivery follows the status.
 */
export function readSnapshotAnswer({ status, mediaType, headers, body }: HttpAnswer): Snapshot {
  if (status === 200) return parseSnapshot(body);
  const delivery = deliveryByStatus(status);
  if (status === 401 || status === 403) {
    throw new RemoteConnectorError("account_not_ready", {
      message: `The control plane refused the account's credentials with ${String(status)}.`,
      delivery,
      details: { status },
    });
  }
  if (status >= 300 && status < 400) throw redirectRefused(status, headers);
  throw new RemoteConnectorError("unexpected_answer", {
    message: `The control plane answered ${String(status)} to the request for a snapshot.`,
    delivery,
    details: { status, mediaType, snippet: snippetOf(body), reason: "the status is not 200", ...hintsOf(headers) },
  });
}

/** The control plane answered with a redirect, which is not followed. */
export function redirectRefused(
  status: number,
  { location }: ResponseHeaders,
): RemoteConnectorError<"redirect_refused"> {
  return new RemoteConnectorError("redirect_refused", {
    message: `The control plane answered ${String(status)}; redirects are not followed.`,
    delivery: deliveryByStatus(status),
    details: { status, location: shownLocation(location), reason: "account credentials are never redirected" },
  });
}

/** A redirect's target as far as it may be shown: an origin and a path. It may be relative, and it may hold a secret. */
function shownLocation(location: string | string[] | undefined): string {
  const [first = ""] = Array.isArray(location) ? location : [location];
  const base = "http://relative.invalid";
  if (!URL.canParse(first, base)) return "";
  const { origin, pathname } = new URL(first, base);
  return origin === base ? pathname : `${origin}${pathname}`;
}
