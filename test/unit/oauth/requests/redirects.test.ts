import { describe, expect, it } from "vitest";
import { postRedirected, redirectedTo } from "../../../../src/oauth/requests/redirects.js";

const headOf = (location: string | undefined, status = 302) => ({ status, mediaType: "", headers: { location } });
const follow = (from: string, location: string | undefined, hops = 0, loopback = false) =>
  redirectedTo(headOf(location), new URL(from), hops, { loopback }).href;

describe("redirectedTo", () => {
  it.each([
    ["https://h.test/a", "/b?c=1", "https://h.test/b?c=1"],
    ["https://h.test/a/b", "c", "https://h.test/a/c"],
    ["https://h.test/a", "https://H.test:443/b", "https://h.test/b"],
    ["https://h.test:8443/a", "//h.test:8443/b", "https://h.test:8443/b"],
  ])("A-11: from %s to %s is followed", (from, location, target) => {
    expect(follow(from, location)).toBe(target);
    expect(follow(from, location, 2)).toBe(target);
  });

  it.each([
    ["http://localhost:3000/a", "https://localhost/a"],
    ["http://localhost:3000/a", "https://localhost:3443/b"],
    ["http://localhost:3000/a", "/b"],
  ])("A-11: on loopback, from %s to %s is followed", (from, location) => {
    expect(follow(from, location, 0, true)).toBe(new URL(location, from).href);
  });

  it.each([
    ["https://h.test/a", undefined],
    ["https://h.test/a", "https://"],
    ["https://h.test/a", "https://other.test/a"],
    ["https://h.test/a", "//other.test/a"],
    ["https://h.test/a", "https://h.test:8443/a"],
    ["https://h.test/a", "https://sub.h.test/a"],
    ["https://h.test/a", "http://h.test/a"],
    ["https://h.test/a", "https://user@h.test/a"],
    ["https://h.test/a", "https://h.test@other.test/a"],
    ["https://h.test/a", "/b#fragment"],
    ["https://h.test/a", "javascript:alert(1)"],
    ["https://h.test/a", "data:application/json,{}"],
    ["https://h.test/a", "file:///etc/passwd"],
    ["https://h.test/a", "blob:https://h.test/a"],
    ["https://h.test/a", "http://127.0.0.1/"],
    ["https://h.test/a", "https://169.254.169.254/latest"],
    ["https://localhost/a", "http://localhost/a"],
    ["http://localhost:3000/a", "http://localhost:3001/a"],
    ["http://localhost:3000/a", "http://127.0.0.1:3000/a"],
    ["http://localhost:3000/a", "https://127.0.0.1:3000/a"],
  ])("A-11: from %s to %s is refused", (from, location) => {
    for (const loopback of [true, false]) {
      expect(() => follow(from, location, 0, loopback)).toThrow(
        expect.objectContaining({ code: "redirect_refused", delivery: "answered" }),
      );
    }
  });

  it("A-11: a fourth hop is refused", () => {
    expect(() => follow("https://h.test/a", "/b", 3)).toThrow(expect.objectContaining({ code: "redirect_refused" }));
  });
});

describe("postRedirected", () => {
  it("A-11: says where to, without what is secret in it", () => {
    const error = postRedirected(headOf("https://u:secret@h.test/b?code=secret", 307), new URL("https://h.test/a"));
    expect(error).toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
      details: { status: 307, location: "https://h.test/b?code=…" },
    });
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});
