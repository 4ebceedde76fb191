/** An address without its userinfo, and what that was for. */
export interface TakenUserinfo {
  /** The address as it was when it is no URL, or has no userinfo. */
  readonly endpoint: unknown;
  readonly userinfo?:
    | { readonly kind: "basic"; readonly credentials: string }
    | { readonly kind: "refused"; readonly reason: string };
}

/**
 * Takes the userinfo out of an address: what `Basic` authorization would send of it, in Base64. Source: RFC 7617, section 2.
 */
export function takeUserinfo(address: unknown): TakenUserinfo {
  if (typeof address !== "string" || !URL.canParse(address)) return { endpoint: address };
  const url = new URL(address);
  if (url.username === "" && url.password === "") return { endpoint: address };
  const [user, password] = [decoded(url.username), decoded(url.password)];
  url.username = "";
  url.password = "";
  const endpoint = url.href;
  if (user === undefined || password === undefined) {
    return { endpoint, userinfo: { kind: "refused", reason: "holds userinfo that is not percent-encoded UTF-8" } };
  }
  if (user.includes(":")) {
    return { endpoint, userinfo: { kind: "refused", reason: "holds a user name with a colon, which can't be sent" } };
  }
  const credentials = Buffer.from(`${user}:${password}`, "utf8").toString("base64");
  return { endpoint, userinfo: { kind: "basic", credentials } };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
