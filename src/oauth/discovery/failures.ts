import { RemoteConnectorError } from "../../errors.js";
import { shownUrl } from "../../transport/index.js";

/** What was published breaks a rule. `answered`. The URL is shown without query values. Pure. */
export function invalidMetadata(
  subject: "resource_metadata" | "server_metadata",
  url: string,
  member: string,
  reason: string,
  cause?: unknown,
): RemoteConnectorError<"oauth_invalid"> {
  const whose = subject === "resource_metadata" ? "the resource" : "the authorization server";
  return new RemoteConnectorError("oauth_invalid", {
    message: `The metadata of ${whose} can't be used: ${member} ${reason}.`,
    delivery: "answered",
    details: { subject, url: shown(url), member, reason },
    cause,
  });
}

/** The search stopped at an answer. `answered`. Pure. */
export function discoveryFailed(
  url: string,
  status: number,
  reason: string,
): RemoteConnectorError<"oauth_discovery_failed"> {
  return new RemoteConnectorError("oauth_discovery_failed", {
    message: `Metadata for authorization can't be had: ${reason} (status ${String(status)}).`,
    delivery: "answered",
    details: { url: shown(url), status, reason },
  });
}

function shown(url: string): string {
  return URL.canParse(url) ? shownUrl(new URL(url)) : "(not a URL)";
}
