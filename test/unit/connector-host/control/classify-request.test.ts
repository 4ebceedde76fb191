import { describe, expect, it } from "vitest";
import { classifyControlRequest } from "../../../../src/connector-host/control/classify-request.js";

describe("a request over the control socket", () => {
  it.each([
    ["GET", "/v1/status", {}, { kind: "status" }],
    ["POST", "/v1/refresh", {}, { kind: "refresh" }],
    // An agent's bearer opens nothing here.
    ["GET", "/v1/status", { authorization: "Bearer x" }, { kind: "refused", status: 403, reason: "bearer_refused" }],
    ["POST", "/v1/admin/view", { authorization: "" }, { kind: "refused", status: 403, reason: "bearer_refused" }],
    [
      "POST",
      "/v1/admin/view",
      { origin: "http://127.0.0.1:1" },
      { kind: "refused", status: 403, reason: "origin_refused" },
    ],
    ["POST", "/v1/admin/view", {}, { kind: "verb", name: "view" }],
    ["POST", "/v1/admin/link", {}, { kind: "verb", name: "link" }],
    ["GET", "/v1/admin/view", {}, { kind: "refused", status: 405, reason: "wrong_method", allow: "POST" }],
    ["POST", "/v1/admin/", {}, { kind: "refused", status: 404, reason: "unknown_path" }],
    ["POST", "/v1/admin/toString", {}, { kind: "refused", status: 404, reason: "unknown_path" }],
    ["GET", "/v1/status", { origin: "http://localhost" }, { kind: "refused", status: 403, reason: "origin_refused" }],
    ["GET", "/v1/status", { origin: "" }, { kind: "refused", status: 403, reason: "origin_refused" }],
    ["POST", "/nothing", { origin: "null" }, { kind: "refused", status: 403, reason: "origin_refused" }],
    ["POST", "/v1/status", {}, { kind: "refused", status: 405, reason: "wrong_method", allow: "GET" }],
    ["GET", "/v1/refresh", {}, { kind: "refused", status: 405, reason: "wrong_method", allow: "POST" }],
    ["HEAD", "/v1/status", {}, { kind: "refused", status: 405, reason: "wrong_method", allow: "GET" }],
    ["GET", "/v2/status", {}, { kind: "refused", status: 404, reason: "unknown_path" }],
    ["GET", "/v1/status?x", {}, { kind: "refused", status: 404, reason: "unknown_path" }],
    ["GET", "/mcp/connector", {}, { kind: "refused", status: 404, reason: "unknown_path" }],
    ["GET", "constructor", {}, { kind: "refused", status: 404, reason: "unknown_path" }],
    ["GET", undefined, {}, { kind: "refused", status: 404, reason: "unknown_path" }],
  ])("R-5, H-33: %s %s with %o is %o", (method, url, headers, verdict) => {
    expect(classifyControlRequest({ method, url, headers })).toEqual(verdict);
  });
});
