/** A request to the listener, as far as it is judged. */
export interface VisitRequest {
  readonly method: string;
  /** As the request line has it. */
  readonly target: string;
  /** Lower-case names, each with all of its values. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

/** `visit`: a browser came back, to this URL. Anything else is answered with its status, and changes nothing. */
export type VisitVerdict =
  | { readonly kind: "visit"; readonly url: URL }
  | { readonly kind: "refused"; readonly status: 400 | 404 | 405 | 503 };

/**
 * Judges a request to the listener of a redirect URI. Pure.
 *
 * A visit is a GET of exactly its path, for exactly its host, with a `code` or an `error`. Refused besides are requests that a browser
 * makes without a person being taken there: fetches and images of other pages, and a page that is loaded ahead, which the browser
 * asks for again when it is really wanted.
 */
export function classifyVisit({ headers, method, target }: VisitRequest, redirectUri: string): VisitVerdict {
  const expected = new URL(redirectUri);
  const hosts = headers["host"] ?? [];
  if (hosts.length !== 1 || hosts[0]?.toLowerCase() !== expected.host) return refused(400);
  const [path = ""] = target.split("?", 1);
  if (path !== expected.pathname) return refused(404);
  if (method !== "GET") return refused(405);
  if (hasBody(headers) || !isNavigation(headers)) return refused(400);
  if (isAhead(headers)) return refused(503);
  const text = `${expected.origin}${target}`;
  if (!URL.canParse(text) || target.includes("#")) return refused(400);
  const url = new URL(text);
  return url.searchParams.has("code") || url.searchParams.has("error") ? { kind: "visit", url } : refused(400);
}

function hasBody(headers: VisitRequest["headers"]): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? []).some((size) => size !== "0");
}

/** Browsers say where a request comes from, and how it was made; programs and old browsers don't. Source: Fetch Metadata Request Headers. */
function isNavigation(headers: VisitRequest["headers"]): boolean {
  if (headers["sec-fetch-site"] === undefined) return true;
  return headers["sec-fetch-mode"]?.every((mode) => mode === "navigate") ?? true;
}

function isAhead(headers: VisitRequest["headers"]): boolean {
  return ["sec-purpose", "purpose", "x-moz"].some((name) => headers[name]?.some((value) => /^prefetch\b/i.test(value)));
}

function refused(status: 400 | 404 | 405 | 503): VisitVerdict {
  return { kind: "refused", status };
}
