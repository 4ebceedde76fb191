import type { LookupFunction } from "node:net";
import { describe, expect, it } from "vitest";
import { resolveRequester } from "../../../../src/oauth/requests/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

const clock = new FakeClock();
/** Names stand for what is written here; others for nothing. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "public.test": ["93.184.216.34"],
  "private.test": ["10.0.0.1"],
  "mapped.test": ["::ffff:10.0.0.1"],
  "mixed.test": ["93.184.216.34", "192.168.1.1"],
  "loop.test": ["127.0.0.1", "::1"],
  "link.test": ["169.254.169.254"],
};

/** What is decided for an endpoint, and what was looked up for it. */
async function decide(url: string, options: object = {}): Promise<string> {
  const asked: string[] = [];
  const lookup: LookupFunction = (name, _options, callback) => {
    asked.push(name);
    const found = NAMES[name];
    if (found === undefined) callback(new Error("ENOTFOUND"), []);
    else
      callback(
        null,
        found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
  };
  const { allowedAddresses } = await resolveRequester(new URL(url), { lookup, ...options }, clock);
  return [allowedAddresses, ...asked].join(" ");
}

describe("resolveRequester", () => {
  it.each([
    ["https://public.test/mcp", "public"],
    ["https://private.test/mcp", "public"],
    ["https://10.0.0.1/mcp", "public"],
    ["http://localhost:3000/mcp", "public_or_loopback"],
    ["http://127.0.0.1:3000/mcp", "public_or_loopback"],
    ["https://[::1]:3000/mcp", "public_or_loopback"],
    ["https://loop.test/mcp", "public"],
  ])("A-11: for %s, addresses that are %s, without looking anything up", async (url, allowed) => {
    expect(await decide(url)).toBe(allowed);
  });

  it.each([
    ["https://public.test/mcp", "public public.test"],
    ["https://93.184.216.34/mcp", "public"],
    ["https://unknown.test/mcp", "public unknown.test"],
    ["https://private.test/mcp", "any private.test"],
    ["https://mapped.test/mcp", "any mapped.test"],
    ["https://mixed.test/mcp", "any mixed.test"],
    ["https://link.test/mcp", "any link.test"],
    ["https://loop.test/mcp", "public_or_loopback loop.test"],
    ["https://192.168.1.1/mcp", "any"],
    ["https://[fd00::1]/mcp", "any"],
    ["http://localhost/mcp", "public_or_loopback"],
  ])("A-11: with allowPrivateAddresses, for %s: %s", async (url, expected) => {
    expect(await decide(url, { allowPrivateAddresses: true })).toBe(expected);
  });

  it.each([
    ["https://public.test/mcp", "public"],
    ["https://private.test/mcp", "public"],
    ["https://10.0.0.1/mcp", "any"],
    ["http://127.0.0.1/mcp", "public_or_loopback"],
  ])(
    "A-11: behind a proxy, which alone looks names up, with allowPrivateAddresses, for %s: %s",
    async (url, expected) => {
      const proxy = { url: "http://proxy.test:3128" };
      expect(await decide(url, { proxy, allowPrivateAddresses: true })).toBe(expected);
    },
  );

  it("A-11: with the environment's proxy a name may be one that is reached without", async () => {
    const options = { proxy: "environment", allowPrivateAddresses: true };
    expect(await decide("https://private.test/mcp", options)).toBe("any private.test");
    expect(await decide("https://unknown.test/mcp", options)).toBe("public unknown.test");
  });

  it("A-11: has a deadline and a limit on its own", async () => {
    const config = await resolveRequester(new URL("https://h.test/"), {}, clock);
    expect(config).toMatchObject({ requestTimeoutMs: 30_000, maxAnswerBytes: 1_048_576, clock });
  });

  it.each([
    [{ requestTimeoutMs: 0 }, "requestTimeoutMs"],
    [{ maxAnswerBytes: 0.5 }, "maxAnswerBytes"],
    [{ allowPrivateAddresses: "yes" }, "allowPrivateAddresses"],
    [{ ca: "no certificate" }, "ca"],
    [{ proxy: { url: "socks5://x" } }, "proxy"],
    [{ headers: {} }, "headers"],
    [{ allowedAddresses: "any" }, "allowedAddresses"],
  ])("A-11: refuses %j", async (options: object, option) => {
    await expect(resolveRequester(new URL("https://h.test/"), options, clock)).rejects.toMatchObject({
      code: "invalid_options",
      details: { option },
    });
  });
});
