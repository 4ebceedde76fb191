import { describe, expect, it } from "vitest";
import { type CallbackOutcome, callbackPage, refusalPage } from "../../../../src/oauth/code-flow/callback-page.js";

const OUTCOMES: readonly CallbackOutcome[] = ["authorized", "failed", "received"];

describe("A-5: what a browser is told", () => {
  it("is another page for each outcome, and each says that the window can be closed", () => {
    const pages = OUTCOMES.map((outcome) => callbackPage(outcome, undefined));
    expect(new Set(pages.map(({ body }) => body)).size).toBe(3);
    for (const { body, headers, status } of pages) {
      expect(status).toBe(200);
      expect(body).toContain("You can close this window");
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    }
  });

  it.each(OUTCOMES)("can be the application's own page: %s", (outcome) => {
    const { body, headers } = callbackPage(outcome, (told) => `<p>é ${told}</p>`);
    expect(body).toBe(`<p>é ${outcome}</p>`);
    expect(headers["content-length"]).toBe(String(Buffer.byteLength(body)));
  });

  it("is this package's where the application's fails", () => {
    const broken = (): string => {
      throw new Error("no page");
    };
    expect(callbackPage("authorized", broken)).toEqual(callbackPage("authorized", undefined));
    const none = Reflect.apply(callbackPage, undefined, ["failed", () => undefined]);
    expect(none).toEqual(callbackPage("failed", undefined));
  });

  it("says to what is no visit only what the status says", () => {
    expect(refusalPage(405)).toMatchObject({ status: 405, body: "Method Not Allowed\n", headers: { allow: "GET" } });
    expect(refusalPage(404).headers).not.toHaveProperty("allow");
  });

  it("is never kept, framed, sniffed, or able to load or tell anything", () => {
    for (const { headers } of [callbackPage("authorized", undefined), refusalPage(404)]) {
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        connection: "close",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      });
      const policy = headers["content-security-policy"]?.split("; ");
      expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]));
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });
});
