/**
 * What an endpoint is called whose server published no identifier: the URL without its fragment, and at the root without its slash. Pure.
 * Source: 2026-07-28, Authorization, Canonical Server URI.
 */
export function canonicalResource(endpoint: URL): string {
  const url = new URL(endpoint);
  url.hash = "";
  return url.pathname === "/" && url.search === "" ? url.origin : url.href;
}
