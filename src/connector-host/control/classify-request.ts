import { type HeaderFields, headerValue } from "../../serving/index.js";
import { ADMIN_VERBS } from "../admin/index.js";
import { ADMIN_PATH, REFRESH_PATH, STATUS_PATH } from "./control-paths.js";

/** What a request is taken for. */
export type ControlVerdict =
  | { readonly kind: "status" }
  | { readonly kind: "refresh" }
  /** `name`: one of `ADMIN_VERBS`. */
  | { readonly kind: "verb"; readonly name: string }
  /** `allow`: the methods that the path has. */
  | { readonly kind: "refused"; readonly status: number; readonly reason: string; readonly allow?: string };

/** The parts of a request that decide. */
export interface ControlRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: HeaderFields;
}

const METHODS: ReadonlyMap<string, string> = new Map([
  [STATUS_PATH, "GET"],
  [REFRESH_PATH, "POST"],
]);

/**
 * The verdict on a request. Who could open the socket may ask; a browser, which alone sends an `Origin`, may not, and neither may
 * whoever shows a bearer: those are agents', and open nothing here. Pure.
 */
export function classifyControlRequest({ method, url = "", headers }: ControlRequest): ControlVerdict {
  if (headerValue(headers, "origin") !== undefined) return { kind: "refused", status: 403, reason: "origin_refused" };
  if (headerValue(headers, "authorization") !== undefined) {
    return { kind: "refused", status: 403, reason: "bearer_refused" };
  }
  const name = url.startsWith(ADMIN_PATH) ? url.slice(ADMIN_PATH.length) : undefined;
  if (name !== undefined && ADMIN_VERBS.has(name)) {
    if (method === "POST") return { kind: "verb", name };
    return { kind: "refused", status: 405, reason: "wrong_method", allow: "POST" };
  }
  const allow = METHODS.get(url);
  if (allow === undefined) return { kind: "refused", status: 404, reason: "unknown_path" };
  if (method !== allow) return { kind: "refused", status: 405, reason: "wrong_method", allow };
  return { kind: url === STATUS_PATH ? "status" : "refresh" };
}
