import { describe, expect, it } from "vitest";
import { RelayFactory, type RelayFactoryOptions } from "../../../../../src/connector-host/relay/guest/index.js";
import type { RemoteMcpClientRequest } from "../../../../../src/connector-host/factories/index.js";
import { DISCOVERED, MemoryGateway } from "../../factories/memory-gateway.js";

const REQUEST: RemoteMcpClientRequest = {
  operationId: "op-1",
  connectionId: "account-00",
  connectorKey: "docs",
  accountId: "größe 1",
  releaseDigest: "d1",
  version: "1.0.0",
  generation: 3,
  binding: {
    protocolVersion: "2026-07-28",
    bindingRef: "docs.primary",
    contractVersion: 1,
    bindingContractHash: `sha256:${"ab".repeat(32)}`,
  },
};

function setUp(options: Partial<RelayFactoryOptions> = {}) {
  const relay = new MemoryGateway(() => ({ result: DISCOVERED, headers: { "relay-outcome": "answered" } }));
  const factory = new RelayFactory({
    relay: { url: "http://127.0.0.1:9" },
    bearer: "b-1",
    clientInfo: { name: "guest", version: "1" },
    createExchange: relay.createExchange,
    ...options,
  });
  return { relay, factory };
}

describe("H-7: the guest half", () => {
  it("posts to the relay and nowhere else, and says who it is for", async () => {
    const { relay, factory } = setUp();
    const client = factory.create(REQUEST);
    await client.discover();
    await client.callTool({ name: "search" }, { contract: { parameters: [] } });
    expect(relay.requests.map(({ origin, path }) => origin + path)).toEqual([
      "http://127.0.0.1:9/v1/relay",
      "http://127.0.0.1:9/v1/relay",
    ]);
    for (const { headers, params } of relay.requests) {
      expect(Object.fromEntries(headers)).toMatchObject({
        authorization: "Bearer b-1",
        "relay-account": "=?base64?Z3LDtsOfZSAx?=",
        "relay-connector": "docs",
        "relay-release": "d1",
      });
      expect(params["_meta"]).toMatchObject({
        "sh.tutti/connectorVersion": "1.0.0",
        "io.modelcontextprotocol/clientCapabilities": {},
      });
      expect(headers.has("cookie")).toBe(false);
      expect(headers.has("tutti-connector-version")).toBe(false);
    }
    await client.close();
    expect(relay.open).toBe(0);
  });

  it("asks for the bearer for each request anew", async () => {
    let count = 0;
    const { relay, factory } = setUp({ bearer: async () => `b-${String((count += 1))}` });
    const client = factory.create(REQUEST);
    await client.discover();
    await client.discover();
    expect(relay.requests.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer b-1", "Bearer b-2"]);
  });

  it("makes no request without a bearer", async () => {
    const { relay, factory } = setUp({ bearer: () => Promise.reject(new Error("the desktop gave none")) });
    await expect(factory.create(REQUEST).discover()).rejects.toMatchObject({
      code: "authorize_failed",
      delivery: "not_sent",
    });
    expect(relay.requests).toEqual([]);
  });

  it("H-6: no caller's _meta overrides the pin", async () => {
    const { relay, factory } = setUp();
    const meta = { "sh.tutti/connectorVersion": "9" };
    const call = factory.create(REQUEST).callTool({ name: "x" }, { contract: { parameters: [] }, meta });
    await expect(call).rejects.toMatchObject({ code: "invalid_argument", delivery: "not_sent" });
    expect(relay.requests).toEqual([]);
  });

  it("H-14: its calls obey admit", async () => {
    const { relay, factory } = setUp();
    const call = factory.create(REQUEST).callTool({ name: "x" }, { contract: { parameters: [] }, admit: () => "no" });
    await expect(call).rejects.toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    expect(relay.requests).toEqual([]);
  });

  it("never shows the bearer", async () => {
    const { relay, factory } = setUp({ bearer: "secret-bearer" });
    relay.answer = () => ({ status: 401, headers: { "relay-outcome": "not_sent", "relay-reason": "unauthorized" } });
    const error: unknown = await factory
      .create(REQUEST)
      .discover()
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "relay_refused", delivery: "not_sent", details: { reason: "unauthorized" } });
    expect(JSON.stringify(error)).not.toContain("secret-bearer");
  });

  it.each([
    [{ relay: { url: "http://192.168.64.1:80" } }, "invalid_url"],
    [{ relay: { url: "https://me:pw@relay.example" } }, "invalid_url"],
    [{ relay: { url: "http://127.0.0.1:9/path" } }, "invalid_options"],
    [{ relay: { socketPath: "" } }, "invalid_options"],
    [{ relay: { socketPath: "/a", url: "http://127.0.0.1:9" } }, "invalid_options"],
    [{ relay: { sockPath: "/a" } }, "invalid_options"],
    [{ bearer: "" }, "invalid_options"],
    [{ bearer: 7 }, "invalid_options"],
    [{ baseUrl: "https://gateway.example" }, "invalid_options"],
    [{ logins: {} }, "invalid_options"],
    [{ versionMetaKey: "io.modelcontextprotocol/pin" }, "invalid_options"],
  ])("F-15: refuses %j", (options: object, code) => {
    expect(() => setUp(options)).toThrowError(expect.objectContaining({ code, delivery: "not_sent" }));
  });

  it("takes an address beyond loopback where that is said, and an identity that can't be written down never", () => {
    const { factory } = setUp({ relay: { url: "http://192.168.64.1:80" }, allowInsecureHttp: true });
    expect(() => factory.create(REQUEST)).not.toThrow();
    expect(() => factory.create({ ...REQUEST, accountId: "\ud800" })).toThrowError(
      expect.objectContaining({ code: "invalid_argument", delivery: "not_sent" }),
    );
  });
});
