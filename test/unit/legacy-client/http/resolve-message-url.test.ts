import { describe, expect, it } from "vitest";
import { resolveMessageUrl } from "../../../../src/legacy-client/http/resolve-message-url.js";

const POLICY = { allowInsecureHttp: false };
const STREAM = new URL("https://host:8443/v1/sse?key=k");

describe("resolveMessageUrl", () => {
  it.each([
    ["/m?sid=1", "https://host:8443/m?sid=1"],
    ["m?sid=1", "https://host:8443/v1/m?sid=1"],
    ["../m", "https://host:8443/m"],
    ["?sid=1", "https://host:8443/v1/sse?sid=1"],
    ["https://host:8443/x", "https://host:8443/x"],
    ["https://HOST:8443/x", "https://host:8443/x"],
  ])("L-11: %s is %s", (data, url) => {
    expect(resolveMessageUrl(data, STREAM, POLICY).href).toBe(url);
  });

  it.each([
    "//other:8443/m",
    "https://other:8443/m",
    "https://host/m",
    "http://host:8443/m",
    "https://host.evil:8443/m",
    "https://user:pass@host:8443/m",
    "/m#part",
    "javascript:alert(1)",
    "https://",
  ])("L-11, F-15: %s is refused", (data) => {
    expect(() => resolveMessageUrl(data, STREAM, POLICY)).toThrow(expect.objectContaining({ code: "invalid_url" }));
  });
});
