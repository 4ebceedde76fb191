import { describe, expect, it } from "vitest";
import { resourceMetadataUrls, serverMetadataUrls } from "../../../../src/oauth/discovery/index.js";

const RESOURCE = "/.well-known/oauth-protected-resource";
const OAUTH = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";

describe("resourceMetadataUrls", () => {
  it.each([
    ["https://h.test", [RESOURCE]],
    ["https://h.test/", [RESOURCE]],
    ["https://h.test/mcp", [`${RESOURCE}/mcp`, RESOURCE]],
    ["https://h.test/public/mcp/", [`${RESOURCE}/public/mcp/`, RESOURCE]],
    ["https://h.test/mcp?t=1", [`${RESOURCE}/mcp?t=1`, RESOURCE]],
    ["https://h.test/?t=1", [`${RESOURCE}?t=1`, RESOURCE]],
  ])("A-2: for %s", (endpoint, paths) => {
    expect(resourceMetadataUrls(new URL(endpoint))).toEqual(paths.map((path) => `https://h.test${path}`));
  });
});

describe("serverMetadataUrls", () => {
  it.each([
    ["https://h.test", [OAUTH, OPENID]],
    ["https://h.test/", [OAUTH, OPENID]],
    ["https://h.test/t1", [`${OAUTH}/t1`, `${OPENID}/t1`, `/t1${OPENID}`]],
    ["https://h.test/t1/", [`${OAUTH}/t1`, `${OPENID}/t1`, `/t1${OPENID}`]],
    ["https://h.test/a/b", [`${OAUTH}/a/b`, `${OPENID}/a/b`, `/a/b${OPENID}`]],
  ])("A-3: for %s", (issuer, paths) => {
    expect(serverMetadataUrls(new URL(issuer))).toEqual(paths.map((path) => `https://h.test${path}`));
  });
});
