import { type HeaderFields, headerValue } from "../../serving/index.js";
import { ADMIN_VERBS } from "../admin/index.js";

/** Where the page is. Its cookie goes here and below. */
export const PAGE_PATH = "/admin";
const API_PATH = "/admin/api/";
export const LOGOUT_PATH = "/admin/logout";
/** The parameter of a link that holds its secret. */
export const LINK_PARAMETER = "link";
/** Who wants something to be done shows the session's key in it: no page of another origin can. */
const KEY_HEADER = "connector-admin-key";

/** What a request is taken for, whoever sent it. */
export type AdminRequestVerdict =
  | { readonly kind: "link"; readonly token: string }
  | { readonly kind: "page"; readonly cookie: string | undefined }
  | { readonly kind: "logout"; readonly cookie: string | undefined }
  /** `name`: one of `ADMIN_VERBS`. */
  | {
      readonly kind: "verb";
      readonly name: string;
      readonly cookie: string | undefined;
      readonly key: string | undefined;
    }
  | { readonly kind: "refused"; readonly status: number; readonly reason: string; readonly allow?: string };

/** The parts of a request that decide. */
export interface AdminRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: HeaderFields;
}

/**
 * The verdict on a request to the listener of this origin, such as `http://127.0.0.1:1234`. Pure.
 *
 * `Host` must be exactly that origin's: a page whose name was made to resolve to this machine sends its own. A bearer is refused: those
 * are agents'. What changes something must come from a page of this very origin: `Sec-Fetch-Site` says so, and where a browser sends none,
 * `Origin` does.
 */
export function classifyAdminRequest({ method, url = "", headers }: AdminRequest, origin: string): AdminRequestVerdict {
  if (headerValue(headers, "host") !== new URL(origin).host) return refused(403, "host_refused");
  if (headerValue(headers, "authorization") !== undefined) return refused(403, "bearer_refused");
  const [pathname = "", query = ""] = url.split("?", 2);
  const cookie = cookieIn(headers, cookieName(origin));
  if (pathname === PAGE_PATH) {
    if (method !== "GET") return { ...refused(405, "wrong_method"), allow: "GET" };
    const token = new URLSearchParams(query).get(LINK_PARAMETER);
    if (token === null) return { kind: "page", cookie };
    // A browser that only looks ahead is not a person who opens it.
    return isAhead(headers) ? refused(403, "prefetch_refused") : { kind: "link", token };
  }
  const name = pathname.startsWith(API_PATH) ? pathname.slice(API_PATH.length) : undefined;
  const isVerb = name !== undefined && ADMIN_VERBS.get(name)?.isSocketOnly === false;
  if (!isVerb && pathname !== LOGOUT_PATH) return refused(404, "unknown_path");
  if (method !== "POST") return { ...refused(405, "wrong_method"), allow: "POST" };
  if (!isOfThisOrigin(headers, origin)) return refused(403, "origin_refused");
  if (name === undefined) return { kind: "logout", cookie };
  if (!isJson(headers)) return refused(415, "not_json");
  return { kind: "verb", name, cookie, key: headerValue(headers, KEY_HEADER) };
}

/** The cookie of a listener: with its port, since cookies of all ports of a host are one. Pure. */
export function cookieName(origin: string): string {
  return `connector-admin-${new URL(origin).port}`;
}

function isOfThisOrigin(headers: HeaderFields, origin: string): boolean {
  const given = headerValue(headers, "origin");
  const site = headerValue(headers, "sec-fetch-site");
  if (site === undefined) return given === origin;
  // A form of a page that sends no referrer says `null`.
  return site === "same-origin" && (given === undefined || given === origin || given === "null");
}

function isAhead(headers: HeaderFields): boolean {
  const purpose = headerValue(headers, "sec-purpose") ?? headerValue(headers, "purpose") ?? "";
  return purpose.includes("prefetch");
}

function isJson(headers: HeaderFields): boolean {
  return /^application\/json *(?:;|$)/i.test(headerValue(headers, "content-type") ?? "");
}

function cookieIn(headers: HeaderFields, name: string): string | undefined {
  for (const pair of (headerValue(headers, "cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

function refused(status: number, reason: string) {
  return { kind: "refused", status, reason } as const;
}
