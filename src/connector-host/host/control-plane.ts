import { type AccountAuthorizer, parseHintUrl, snapshotUrl } from "../../auth-projection/index.js";
import { RemoteConnectorError } from "../../errors.js";
import { refuseOption } from "../../options.js";
import { parseEndpoint } from "../../transport/index.js";

export interface ControlPlaneOptions {
  readonly baseUrl?: string | URL | undefined;
  readonly accounts?: AccountAuthorizer | undefined;
  readonly hintsUrl?: string | URL | false | undefined;
  readonly releases?: readonly unknown[] | undefined;
}

/** Where accounts are looked after, and whose they are. */
export interface ControlPlane {
  readonly baseUrl: string;
  readonly hintsUrl: string | undefined;
}

/** `undefined`: the host has no accounts, and only serves connectors of its device. Throws `invalid_options` and `invalid_url`. */
export function resolveControlPlane(options: ControlPlaneOptions): ControlPlane | undefined {
  const { baseUrl: given, accounts, releases = [] } = options;
  if (given === undefined) {
    if (accounts !== undefined) refuseOption("baseUrl", "must be there with accounts");
    if (releases.length > 0) refuseOption("baseUrl", "must be there with releases");
    return undefined;
  }
  if (accounts === undefined) refuseOption("accounts", "must be there with baseUrl");
  const baseUrl = parseEndpoint(given, { allowInsecureHttp: false }).href.replace(/\/+$/, "");
  // Everything that a sign-in is made of is checked here: a login that can't be served must not begin.
  snapshotUrl(baseUrl);
  return { baseUrl, hintsUrl: resolveHintsUrl(options.hintsUrl, baseUrl) };
}

/** The failure of what needs an account on a host that has none. */
export function noControlPlane(): RemoteConnectorError<"invalid_options"> {
  return new RemoteConnectorError("invalid_options", {
    message: "The host was started without baseUrl and accounts: it only serves connectors of this device.",
    details: { option: "baseUrl", reason: "must be there for accounts" },
  });
}

function resolveHintsUrl(given: string | URL | false | undefined, baseUrl: string): string | undefined {
  if (given === false) return undefined;
  return parseHintUrl(given ?? `${baseUrl.replace(/^http/, "ws")}/v1/events`).href;
}
