import { describe, expect, it } from "vitest";
import { parseProviderUrl } from "../../../src/gateway/authorizing/provider-url.js";

const REMOTE = "https://issuer.test";
const LOCAL = "http://127.0.0.1:4711";

describe("parseProviderUrl", () => {
  it.each([
    ["https://issuer.test/token", REMOTE],
    ["https://tokens.test/token", REMOTE],
    ["http://127.0.0.1:1/token", LOCAL],
    ["https://tokens.test/token", LOCAL],
  ])("P-10: takes %s of %s", (url, issuer) => {
    expect(parseProviderUrl(url, issuer).href).toBe(url);
  });

  it.each([
    ["http://127.0.0.1:1/token", REMOTE],
    ["https://localhost/token", REMOTE],
    ["https://[::1]/token", REMOTE],
    ["http://tokens.test/token", LOCAL],
    ["javascript:alert(1)", REMOTE],
    ["/token", REMOTE],
  ])("P-10: refuses %s of %s", (url, issuer) => {
    expect(() => parseProviderUrl(url, issuer)).toThrow(expect.objectContaining({ code: "invalid_url" }));
  });
});
