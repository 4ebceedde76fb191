import { refuseOption } from "../options.js";
import { isMetaKey, isReservedMetaKey } from "../protocol/index.js";
import { addHeaders, parseEndpoint } from "../transport/index.js";

/** The names under which every request says which version of its connector's release it is for. */
export interface VersionPinOptions {
  /** The header that pins the release's version. `Tutti-Connector-Version` when left out. */
  readonly versionHeader?: string | undefined;
  /** The `_meta` key that does. `sh.tutti/connectorVersion` when left out. */
  readonly versionMetaKey?: string | undefined;
}

/** {@link VersionPinOptions} with nothing left open. */
export interface VersionPin {
  readonly versionHeader: string;
  readonly versionMetaKey: string;
}

/** Fills in the product's names. Throws `invalid_options`, and `invalid_header` for what is no header or a reserved one. */
export function resolveVersionPin(options: VersionPinOptions): VersionPin {
  const { versionHeader = "Tutti-Connector-Version", versionMetaKey = "sh.tutti/connectorVersion" } = options;
  addHeaders([], { [versionHeader]: "" });
  if (!isMetaKey(versionMetaKey) || isReservedMetaKey(versionMetaKey)) {
    refuseOption("versionMetaKey", "must be a _meta key that MCP has not reserved");
  }
  return { versionHeader, versionMetaKey };
}

/**
 * The base of all addresses of a gateway: https, or http on loopback; a path is kept, a slash at its end is not.
 *
 * Throws `invalid_url`, and `invalid_options` for a query or a fragment.
 */
export function parseGatewayBase(baseUrl: string | URL): string {
  const url = parseEndpoint(baseUrl, { allowInsecureHttp: false });
  // The parsed URL no longer tells an empty query or fragment from none.
  if (/[?#]/.test(String(baseUrl))) refuseOption("baseUrl", "must have no query and no fragment");
  return url.href.replace(/\/+$/, "");
}

/** Where a connector is on its gateway, whatever its release says. The key must be one: a dot segment would lead elsewhere. */
export function connectorUrl(base: string, connectorKey: string): string {
  return `${base}/v1/connectors/${encodeURIComponent(connectorKey)}/mcp`;
}
