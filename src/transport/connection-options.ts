import { X509Certificate } from "node:crypto";
import type { LookupFunction } from "node:net";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { refuseOption, refuseUnknownOptions } from "../options.js";
import type { AllowedAddresses } from "./address-guard.js";

/** PEM. */
export type Pem = string | Buffer;

/** What shows the server who the client is, over TLS. */
export interface ClientCertificate {
  readonly cert: Pem;
  readonly key: Pem;
  /** Of the key, when it is encrypted. */
  readonly passphrase?: string | undefined;
}

/** A proxy that everything goes through: http or https; userinfo authorizes with it. */
export interface ProxyAddress {
  readonly url: string | URL;
}

/** How connections are made. */
export interface ConnectionOptions {
  /** Which addresses names and URLs may stand for, looked at after the name is looked up. Default `any`. */
  readonly allowedAddresses?: AllowedAddresses | undefined;
  /** The authorities to trust, in place of Node's own list. */
  readonly ca?: Pem | readonly Pem[] | undefined;
  /** Shown to servers that ask for one. Never to a proxy. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /**
   * Offers HTTP/2 to servers over https, which may choose it; HTTP/1.1 is spoken otherwise. Requests and streams then share
   * connections. Not through a proxy. Default `false`.
   */
  readonly http2?: boolean | undefined;
  /** Looks up the names of what is connected to: servers, or the proxy. Default `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined;
  /**
   * `"environment"` goes by `HTTP_PROXY`, `HTTPS_PROXY` (which falls back to the former) and `NO_PROXY`, in either case;
   * loopback is reached without. Every connection through a proxy is a tunnel. Default `false`.
   */
  readonly proxy?: "environment" | ProxyAddress | false | undefined;
}

export interface ConnectionConfig {
  readonly allowedAddresses: AllowedAddresses;
  /** For servers; absent when Node's own will do. */
  readonly serverContext: SecureContext | undefined;
  /** The same without the client's certificate. */
  readonly proxyContext: SecureContext | undefined;
  readonly http2: boolean;
  readonly lookup: LookupFunction | undefined;
  readonly proxy: "environment" | URL | false;
  /**
   * Whether a proxy may look names up although addresses are restricted: those of a direct connection still are, and who sets this judges
   * hosts that are addresses. Otherwise the two exclude each other.
   */
  readonly trustsProxy: boolean;
}

/** The names of {@link ConnectionOptions}. */
export const CONNECTION_OPTION_NAMES = [
  "allowedAddresses",
  "ca",
  "clientCertificate",
  "http2",
  "lookup",
  "proxy",
] as const satisfies readonly (keyof ConnectionOptions)[];

/** Applies the defaults. Throws `invalid_options` for what can't be used, certificates included. */
export function resolveConnectionOptions(options: ConnectionOptions): ConnectionConfig {
  const { allowedAddresses = "any", clientCertificate, http2 = false, lookup, proxy = false } = options;
  if (!ALLOWED.has(allowedAddresses)) {
    return refuseOption("allowedAddresses", `must be one of ${[...ALLOWED].join(", ")}`);
  }
  if (typeof http2 !== "boolean") return refuseOption("http2", "must be true or false");
  if (lookup !== undefined && typeof lookup !== "function") return refuseOption("lookup", "must be a function");
  if ((typeof proxy !== "object" && proxy !== false && proxy !== "environment") || proxy === null) {
    return refuseOption("proxy", 'must be "environment", false, or an object with a url');
  }
  const ca = options.ca === undefined ? undefined : [options.ca].flat();
  const proxyContext = ca === undefined ? undefined : secureContext("ca", { ca });
  const certificate = clientCertificate === undefined ? undefined : certificateOf(clientCertificate);
  const serverContext =
    certificate === undefined
      ? proxyContext
      : secureContext("clientCertificate", { ...certificate, ...(ca === undefined ? {} : { ca }) });
  return {
    allowedAddresses,
    serverContext,
    proxyContext,
    http2,
    lookup,
    proxy: proxy === false || proxy === "environment" ? proxy : parseProxy(proxy.url, "proxy"),
    trustsProxy: false,
  };
}

/** Parses a proxy's URL. Throws `invalid_options`, which does not show it: it can hold a password. */
export function parseProxy(value: string | URL, source: string): URL {
  const url = URL.canParse(String(value)) ? new URL(value) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url !== undefined && isHttp && isEncoded(url.username) && isEncoded(url.password)) return url;
  const where = source === "proxy" ? "must be" : `reads ${source}, which must be`;
  return refuseOption("proxy", `${where} a URL that begins with http:// or https://`);
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const ALLOWED: ReadonlySet<string> = new Set<AllowedAddresses>(["any", "public", "public_or_loopback"]);

function certificateOf(certificate: ClientCertificate): { cert: Pem; key: Pem; passphrase?: string } {
  if (typeof certificate !== "object" || certificate === null) {
    return refuseOption("clientCertificate", "must be an object with a cert and a key");
  }
  refuseUnknownOptions(certificate, ["cert", "key", "passphrase"]);
  const { cert, key, passphrase } = certificate;
  if (cert === undefined || key === undefined) return refuseOption("clientCertificate", "must have a cert and a key");
  return { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
}

/** Read once: certificates are parsed here, and not again for every connection. */
function secureContext(option: string, parts: SecureContextOptions): SecureContext {
  try {
    // What is no certificate would be passed over, and nothing be trusted.
    for (const pem of [parts.ca ?? []].flat()) void new X509Certificate(pem);
    return createSecureContext(parts);
  } catch {
    // What OpenSSL says of a key is nothing to show.
    return refuseOption(option, "can't be read as PEM, or its parts don't belong together");
  }
}
