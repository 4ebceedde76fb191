/** What readers of URLs disagree about: white space, control characters, and what some take for a slash. */
const AMBIGUOUS = /[\s\p{Cc}\\]/u;

/**
 * Whether a text is a URL to some readers and another one to others. Identifiers are sent as they were published: an authorization server
 * could see another's in it. Pure.
 */
export function isAmbiguous(identifier: string): boolean {
  return AMBIGUOUS.test(identifier);
}

/**
 * Whether a published resource identifier is the endpoint's: the endpoint itself, or a parent of it at a boundary of path segments, on
 * the same origin. One slash at the end of either path is ignored, and so is how URLs are spelt (case of scheme and host, default
 * ports, dot segments). A fragment, even an empty one, and userinfo are refused, and so are characters that no URL has.
 *
 * An identifier with a query names one resource of its path: the endpoint must have that very path, and that very query. Without one
 * it does not matter which query the endpoint has: a query tells parts of a resource apart as a path does. Pure and total.
 *
 * Source: RFC 9728, Protected Resource Metadata Validation; RFC 8707, Resource Parameter; 2026-07-28, Canonical Server URI.
 */
export function matchesResource(resource: string, endpoint: URL): boolean {
  if (resource.includes("#") || isAmbiguous(resource) || !URL.canParse(resource)) return false;
  const url = new URL(resource);
  // A `blob:` URL has the origin of the URL that is its path.
  if (url.origin !== endpoint.origin || url.protocol !== endpoint.protocol) return false;
  if (url.username !== "" || url.password !== "") return false;
  const [parent, path] = [withoutSlash(url.pathname), withoutSlash(endpoint.pathname)];
  if (url.search !== "") return parent === path && url.search === endpoint.search;
  return path === parent || path.startsWith(`${parent}/`);
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
