/** Whether a URL's hostname is this machine by name or address. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** A URL as it may be shown: without userinfo, also where a sloppy one puts it into the path, fragment and query values. */
export function shownUrl(url: URL): string {
  const query = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=…`).join("&");
  const path = url.pathname.replace(/[^/]*@/g, "…@");
  return `${url.protocol}//${url.host}${path}${query === "" ? "" : `?${query}`}`;
}
