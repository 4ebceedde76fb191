import { describe, expect, it } from "vitest";
import { classifyVisit, type VisitRequest } from "../../../../src/oauth/code-flow/classify-visit.js";

const REDIRECT_URI = "http://127.0.0.1:4321/callback";

function judge(changes: Partial<VisitRequest> = {}, redirectUri = REDIRECT_URI): number | string {
  const { headers = {}, method = "GET", target = "/callback?code=c&state=s" } = changes;
  const verdict = classifyVisit({ method, target, headers: { host: ["127.0.0.1:4321"], ...headers } }, redirectUri);
  return verdict.kind === "visit" ? verdict.url.href : verdict.status;
}

describe("A-5: a request to the listener", () => {
  it.each([
    "/callback?code=c&state=s",
    "/callback?error=access_denied",
    "/callback?code=",
    "/callback?state=s&x=1&code=a%2Fb+c",
  ])("%s is a visit, with all of its query", (target) => {
    expect(judge({ target })).toBe(`http://127.0.0.1:4321${target}`);
  });

  it.each<[number, string, Partial<VisitRequest>]>([
    [400, "no host", { headers: { host: undefined } }],
    [400, "two hosts", { headers: { host: ["127.0.0.1:4321", "127.0.0.1:4321"] } }],
    [400, "another name for it", { headers: { host: ["localhost:4321"] } }],
    [400, "a name that was made to resolve to it", { headers: { host: ["evil.example:4321"] } }],
    [400, "another port", { headers: { host: ["127.0.0.1:4322"] } }],
    [400, "no port", { headers: { host: ["127.0.0.1"] } }],
    [404, "another path", { target: "/?code=c" }],
    [404, "a longer path", { target: "/callback/?code=c" }],
    [404, "a path of another case", { target: "/Callback?code=c" }],
    [404, "a path that comes to it", { target: "/x/../callback?code=c" }],
    [404, "a path that decodes to it", { target: "/c%61llback?code=c" }],
    [404, "an authority", { target: "//evil.example/callback?code=c" }],
    [404, "a whole URL", { target: "http://127.0.0.1:4321/callback?code=c" }],
    [404, "the icon", { target: "/favicon.ico" }],
    [404, "a star", { target: "*" }],
    [405, "a HEAD", { method: "HEAD" }],
    [405, "a POST", { method: "POST" }],
    [405, "an OPTIONS", { method: "OPTIONS" }],
    [405, "a method in lower case", { method: "get" }],
    [400, "no query", { target: "/callback" }],
    [400, "an empty query", { target: "/callback?" }],
    [400, "neither a code nor an error", { target: "/callback?state=s" }],
    [400, "a fragment", { target: "/callback?x=1#code=c" }],
    [400, "a body", { headers: { "content-length": ["3"] } }],
    [400, "a body in chunks", { headers: { "transfer-encoding": ["chunked"] } }],
    [400, "a fetch of a page", { headers: { "sec-fetch-site": ["cross-site"], "sec-fetch-mode": ["cors"] } }],
    [400, "an image of a page", { headers: { "sec-fetch-site": ["none"], "sec-fetch-mode": ["no-cors"] } }],
    [503, "a page loaded ahead", { headers: { "sec-purpose": ["prefetch"], "sec-fetch-mode": ["navigate"] } }],
    [503, "a page rendered ahead", { headers: { "sec-purpose": ["prefetch;prerender"] } }],
    [503, "a page loaded ahead by an older browser", { headers: { purpose: ["prefetch"] } }],
  ])("is answered %i for %s", (status, _name, changes) => {
    expect(judge(changes)).toBe(status);
  });

  it.each<[string, VisitRequest["headers"]]>([
    ["a navigation that says so", { "sec-fetch-site": ["cross-site"], "sec-fetch-mode": ["navigate"] }],
    ["a program that names a mode alone", { "sec-fetch-mode": ["cors"] }],
    ["an empty body", { "content-length": ["0"] }],
    ["another purpose", { "sec-purpose": ["speech"] }],
  ])("is a visit with %s", (_name, headers) => {
    expect(judge({ headers })).toContain("code=c");
  });

  it("is for the host of the redirect URI, as browsers write it", () => {
    const named = "http://LocalHost:4321/a%20b?x=1";
    const target = "/a%20b?x=1&code=c";
    expect(judge({ target, headers: { host: ["localhost:4321"] } }, named)).toBe(`http://localhost:4321${target}`);
    expect(judge({ target, headers: { host: ["LOCALHOST:4321"] } }, named)).toContain("code=c");
    expect(judge({ target }, named)).toBe(400);
    expect(judge({ headers: { host: ["127.0.0.1"] } }, "http://127.0.0.1/callback")).toContain("code=c");
    expect(judge({ headers: { host: ["[::1]:1"] } }, "http://[::1]:1/callback")).toContain("code=c");
  });
});
