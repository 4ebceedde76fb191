import { describe, expect, it } from "vitest";
import { classifyAdminRequest } from "../../../../src/connector-host/admin-web/classify-request.js";
import { ADMIN_VERBS } from "../../../../src/connector-host/admin/index.js";

const ORIGIN = "http://127.0.0.1:4321";
const HOST = { host: "127.0.0.1:4321" };
const FORM = { ...HOST, origin: ORIGIN, "content-type": "application/json" };
const COOKIE = "other=1; connector-admin-4321=abc; connector-admin-1=no";

function classify(method: string, url: string, headers: Record<string, string>) {
  return classifyAdminRequest({ method, url, headers }, ORIGIN);
}

function refusal(method: string, url: string, headers: Record<string, string>): string {
  const verdict = classify(method, url, headers);
  return verdict.kind === "refused" ? `${String(verdict.status)} ${verdict.reason}` : verdict.kind;
}

describe("H-33: requests to the admin plane in a browser", () => {
  it("H-33: the page, a link, the end of a session and verbs", () => {
    expect(classify("GET", "/admin", { ...HOST, cookie: COOKIE })).toEqual({ kind: "page", cookie: "abc" });
    expect(classify("GET", "/admin", HOST)).toEqual({ kind: "page", cookie: undefined });
    expect(classify("GET", "/admin?link=", HOST)).toEqual({ kind: "link", token: "" });
    expect(classify("GET", "/admin?link=a-b_c", HOST)).toEqual({ kind: "link", token: "a-b_c" });
    expect(classify("POST", "/admin/logout", { ...FORM, cookie: COOKIE })).toEqual({ kind: "logout", cookie: "abc" });
    const headers = { ...FORM, cookie: COOKIE, "connector-admin-key": "k" };
    expect(classify("POST", "/admin/api/view", headers)).toEqual({
      kind: "verb",
      name: "view",
      cookie: "abc",
      key: "k",
    });
  });

  it("H-33: only those verbs that are not the socket's alone", () => {
    const kinds = [...ADMIN_VERBS.keys()].filter(
      (name) => classify("POST", `/admin/api/${name}`, FORM).kind !== "verb",
    );
    expect(kinds).toEqual(["sign-in-server", "link"]);
  });

  it.each([
    ["GET", "/admin", {}, "403 host_refused"],
    ["GET", "/admin", { host: "evil.example:4321" }, "403 host_refused"],
    ["GET", "/admin", { host: "127.0.0.1:4322" }, "403 host_refused"],
    ["GET", "/admin", { host: "localhost:4321" }, "403 host_refused"],
    ["GET", "/admin?link=x", { host: "evil.example" }, "403 host_refused"],
    ["GET", "/admin", { ...HOST, authorization: "Bearer x" }, "403 bearer_refused"],
    ["POST", "/admin/api/view", { ...FORM, authorization: "Bearer x" }, "403 bearer_refused"],
    ["GET", "/", HOST, "404 unknown_path"],
    ["GET", "/mcp", HOST, "404 unknown_path"],
    ["GET", "/admin/", HOST, "404 unknown_path"],
    ["GET", "//127.0.0.1:4321/admin", HOST, "404 unknown_path"],
    ["POST", "/admin/api/no-verb", FORM, "404 unknown_path"],
    ["POST", "/admin/api/view/", FORM, "404 unknown_path"],
    ["POST", "/admin", FORM, "405 wrong_method"],
    ["HEAD", "/admin?link=x", HOST, "405 wrong_method"],
    ["GET", "/admin/api/view", FORM, "405 wrong_method"],
    ["GET", "/admin/logout", FORM, "405 wrong_method"],
    ["GET", "/admin?link=x", { ...HOST, "sec-purpose": "prefetch;prerender" }, "403 prefetch_refused"],
    ["GET", "/admin?link=x", { ...HOST, purpose: "prefetch" }, "403 prefetch_refused"],
    ["POST", "/admin/api/view", { ...HOST, "content-type": "application/json" }, "403 origin_refused"],
    ["POST", "/admin/api/view", { ...FORM, origin: "http://127.0.0.1:4322" }, "403 origin_refused"],
    ["POST", "/admin/api/view", { ...FORM, origin: "http://evil.example" }, "403 origin_refused"],
    ["POST", "/admin/api/view", { ...FORM, origin: "null" }, "403 origin_refused"],
    ["POST", "/admin/logout", { ...FORM, "sec-fetch-site": "same-site" }, "403 origin_refused"],
    ["POST", "/admin/logout", { ...FORM, "sec-fetch-site": "cross-site" }, "403 origin_refused"],
    ["POST", "/admin/logout", { ...FORM, "sec-fetch-site": "none" }, "403 origin_refused"],
    [
      "POST",
      "/admin/logout",
      { ...FORM, origin: "http://evil.example", "sec-fetch-site": "same-origin" },
      "403 origin_refused",
    ],
    ["POST", "/admin/logout", { ...FORM, origin: "null", "sec-fetch-site": "same-origin" }, "logout"],
    ["POST", "/admin/api/view", { ...FORM, "content-type": "text/plain" }, "415 not_json"],
    ["POST", "/admin/api/view", { ...FORM, "content-type": "application/json; charset=utf-8" }, "verb"],
  ] as const)("H-33: %s %s with %o: %s", (method, url, headers, expected) => {
    expect(refusal(method, url, headers)).toBe(expected);
  });
});
