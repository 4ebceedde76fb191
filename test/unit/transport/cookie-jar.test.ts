import { describe, expect, it } from "vitest";
import { CookieJar, MAX_COOKIE_BYTES, MAX_COOKIES, MAX_JAR_BYTES } from "../../../src/transport/cookie-jar.js";
import { FakeClock } from "../../support/fake-clock.js";

const endpoint = new URL("https://mcp.test/mcp");

function jarOf(...lines: string[]) {
  const clock = new FakeClock();
  const jar = new CookieJar(clock);
  const set = (line: string | string[], url = endpoint): void => jar.store({ "set-cookie": line }, url);
  for (const line of lines) set(line);
  return { clock, jar, set, sent: (url: string | URL = endpoint) => jar.headerFor(new URL(url)) };
}

describe("F-18: the cookies of an origin", () => {
  it("are sent by path, the longer path first, and by name only once", () => {
    const { sent, set } = jarOf("a=1; Path=/", "b=2; Path=/mcp", "c=3; Path=/other", "d=4");
    expect(sent()).toBe("b=2; a=1; d=4");
    expect(sent("https://mcp.test/")).toBe("a=1; d=4");
    expect(sent("https://mcp.test/other/x")).toBe("c=3; a=1; d=4");
    set(["a=5; Path=/", "b=; Path=/mcp; Max-Age=0"]);
    expect(sent()).toBe("a=5; d=4");
    expect(jarOf().sent()).toBeUndefined();
  });

  it("expire by our clock, from when they were set, however often they are used", () => {
    const soon = new Date(Date.now() + 20_000).toUTCString();
    const { clock, sent } = jarOf("a=1; Max-Age=10", `b=2; Expires=${soon}`, "c=3", "d=4; Max-Age=99999999999999");
    for (let s = 0; s < 9; s += 1) {
      clock.step(1_000);
      expect(sent()).toBe("a=1; b=2; c=3; d=4");
    }
    clock.step(1_000);
    expect(sent()).toBe("b=2; c=3; d=4");
    clock.step(11_000);
    expect(sent()).toBe("c=3; d=4");
  });

  it("never leave for another host, whatever their domain says", () => {
    const { sent } = jarOf("a=1", "b=2; Domain=other.test", "c=3; Domain=mcp.test", "d=4; Domain=test");
    expect(sent()).toBe("a=1; c=3");
    expect(sent("https://other.test/mcp")).toBeUndefined();
    const single = new URL("https://mcp/mcp");
    const { sent: sentThere, set } = jarOf();
    set(["a=1; Domain=mcp", "b=2; Domain=MCP", "c=3; Domain=mc", "__Host-d=4; Secure; Path=/; Domain=mcp"], single);
    expect(sentThere(single)).toBe("a=1; b=2");
    expect(sentThere("https://x.mcp/mcp")).toBeUndefined();
  });

  it("are secure where they say so, but for loopback", () => {
    const { sent, set } = jarOf("a=1; Secure", "b=2", "__Host-c=3; Secure; Path=/");
    expect(sent("http://mcp.test/mcp")).toBe("b=2");
    const loopback = new URL("http://127.0.0.1:8080/mcp");
    set("l=1; Secure; HttpOnly; SameSite=Strict", loopback);
    expect(sent(loopback)).toBe("l=1");
    const six = new URL("http://[::1]:8080/mcp");
    set("s=1", six);
    expect(sent(six)).toBe("s=1");
  });

  it("are passed over when they are none, or can't be sent", () => {
    const { sent } = jarOf("", ";", "=", "a=\u0001", "a=\u20ac", "a", "__Host-a=1", "ok=1");
    expect(sent()).toBe("ok=1");
  });

  it("F-10: are bounded in length, number and sum, and the oldest make room", () => {
    const long = (name: string, length: number): string => `${name}=${"x".repeat(length - name.length - 1)}`;
    expect(jarOf(long("a", MAX_COOKIE_BYTES + 1)).sent()).toBeUndefined();
    expect(jarOf(long("a", MAX_COOKIE_BYTES)).sent()).toHaveLength(MAX_COOKIE_BYTES);
    const many = jarOf(...Array.from({ length: MAX_COOKIES + 3 }, (_, i) => `n${String(i)}=${String(i)}`));
    const names = many.sent()?.split("; ");
    expect(names).toHaveLength(MAX_COOKIES);
    expect(names?.[0]).toBe("n3=3");
    const large = jarOf(...Array.from({ length: 6 }, (_, i) => long(`n${String(i)}`, MAX_COOKIE_BYTES)));
    const kept = large.sent()?.split("; ") ?? [];
    expect(kept.map((one) => one.slice(0, 2))).toEqual(["n2", "n3", "n4", "n5"]);
    expect(kept.join("")).toHaveLength(MAX_JAR_BYTES);
  });
});
