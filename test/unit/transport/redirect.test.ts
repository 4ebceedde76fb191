import { describe, expect, it } from "vitest";
import { readAnswerHead } from "../../../src/transport/answer-head.js";
import { redirectRefused, redirectTarget } from "../../../src/transport/redirect.js";

const from = new URL("https://h.test/mcp?a=1");

describe("redirectTarget", () => {
  it.each([
    [307, "/other", "https://h.test/other"],
    [308, "https://h.test:443/mcp/?b=2#f", "https://h.test/mcp/?b=2#f"],
    [307, "?b", "https://h.test/mcp?b"],
    [308, "//h.test/x", "https://h.test/x"],
    [307, ["/first", "/second"], "https://h.test/first"],
  ])("F-14: %i to %j is followed", (status, location, target) => {
    expect(redirectTarget(status, { location }, from)?.href).toBe(target);
  });

  it.each([
    [301, "/other"],
    [302, "/other"],
    [303, "/other"],
    [300, "/other"],
    [200, "/other"],
    [307, "http://h.test/mcp"],
    [307, "https://h.test:8443/mcp"],
    [307, "https://evil.test/mcp"],
    [307, "//evil.test/mcp"],
    [307, "https://h.test@evil.test/"],
    [307, "https://user:pass@h.test/mcp"],
    [308, "javascript:alert(1)"],
    [307, "blob:https://h.test/mcp"],
    [308, "https://"],
    [308, undefined],
  ])("F-14: %i to %j is not", (status, location) => {
    expect(redirectTarget(status, { location }, from)).toBeUndefined();
  });
});

describe("redirectRefused", () => {
  const of = (status: number, location: string | undefined, endpoint = from, url?: URL) =>
    redirectRefused(readAnswerHead(status, { location }, url), endpoint).details;

  it.each([
    [301, "https://h.test/mcp/?a=1", /^its location differs in the slash at the end of the path \(one more\)$/],
    [308, "http://h.test/mcp?a=1", /^its location differs in the scheme \(http\), and is of another origin$/],
    [302, "http://h.test/mcp/?a=1", /the scheme \(http\) and the slash at the end of the path \(one more\), and/],
    [307, "https://evil.test/x", /the host and the path and the query, and is of another origin$/],
    [307, "https://h.test:1/mcp?a=1", /differs in the port, and is of another origin$/],
    [303, "/login", /the path and the query$/],
    [307, "/elsewhere", /^more than 3 redirects in a row$/],
    [307, "https://user:secret@h.test/mcp?a=1", /^its location holds userinfo$/],
    [302, "/mcp?a=1", /^it leads back to the same URL$/],
    [304, undefined, /^it names no location$/],
  ])("F-14: %i to %s says what differs", (status, location, reason) => {
    expect(of(status, location).reason).toMatch(reason);
  });

  it("F-14: says how many were followed at most", () => {
    const head = readAnswerHead(307, { location: "/elsewhere" });
    expect(redirectRefused(head, from, 5).details.reason).toBe("more than 5 redirects in a row");
    expect(redirectRefused(head, from, 0).details.reason).toBe("no redirect is followed");
  });

  it("F-14: an endpoint with a slash too many", () => {
    expect(of(301, "/mcp", new URL("https://h.test/mcp/")).reason).toContain("(one less)");
  });

  it("F-14: after redirects that were followed, the last one counts", () => {
    expect(of(302, "b", from, new URL("https://h.test/x/a")).location).toBe("https://h.test/x/b");
  });

  it("F-6, F-1: shows no userinfo and no query values, and is answered", () => {
    const error = redirectRefused(readAnswerHead(302, { location: "https://u:secret@x.test/?t=secret" }), from);
    expect(JSON.stringify(error)).not.toContain("secret");
    expect(error).toMatchObject({ code: "redirect_refused", delivery: "answered", details: { status: 302 } });
  });
});
