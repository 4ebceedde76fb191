import { describe, expect, expectTypeOf, it } from "vitest";
import {
  DirectFactory,
  type DirectFactoryOptions,
  type RemoteMcpClientRequest,
} from "../../../../src/connector-host/factories/index.js";
import { DISCOVERED, MemoryGateway, TestLogins } from "./memory-gateway.js";

const REQUEST: RemoteMcpClientRequest = {
  operationId: "op-1",
  connectionId: "account-00",
  connectorKey: "tencent-docs",
  accountId: "acc-1",
  releaseDigest: "d".repeat(64),
  version: "1.0.0",
  generation: 3,
  binding: {
    protocolVersion: "2026-07-28",
    bindingRef: "tencent-docs.primary",
    contractVersion: 1,
    bindingContractHash: `sha256:${"ab".repeat(32)}`,
  },
};

function setUp(options: Partial<DirectFactoryOptions> = {}) {
  const gateway = new MemoryGateway(() => ({ result: DISCOVERED }));
  const logins = new TestLogins();
  const factory = new DirectFactory({
    baseUrl: "https://gateway.example/api/desktop",
    logins,
    clientInfo: { name: "test-host", version: "1" },
    createExchange: gateway.createExchange,
    ...options,
  });
  return { gateway, logins, factory };
}

describe("H-5: the request", () => {
  it("has exactly eight members, none of them a credential or a URL", () => {
    type Names = keyof RemoteMcpClientRequest;
    expectTypeOf<Names>().toEqualTypeOf<
      | "operationId"
      | "connectionId"
      | "connectorKey"
      | "accountId"
      | "releaseDigest"
      | "version"
      | "generation"
      | "binding"
    >();
    type Binding = keyof RemoteMcpClientRequest["binding"];
    expectTypeOf<Binding>().toEqualTypeOf<
      "protocolVersion" | "bindingRef" | "contractVersion" | "bindingContractHash"
    >();
    expect(Object.keys(REQUEST)).toHaveLength(8);
  });
});

describe("H-6: the direct factory", () => {
  it.each([
    ["https://gateway.example", "tencent-docs", "https://gateway.example", "/v1/connectors/tencent-docs/mcp"],
    ["https://gateway.example/", "a.b", "https://gateway.example", "/v1/connectors/a.b/mcp"],
    ["https://gateway.example/api//", "a_b", "https://gateway.example", "/api/v1/connectors/a_b/mcp"],
    ["http://127.0.0.1:8080/x", "7", "http://127.0.0.1:8080", "/x/v1/connectors/7/mcp"],
    ["http://localhost:1", "a", "http://localhost:1", "/v1/connectors/a/mcp"],
  ])("below %s reaches %s at one place only", async (baseUrl, connectorKey, origin, path) => {
    const { gateway, factory } = setUp({ baseUrl });
    await factory.create({ ...REQUEST, connectorKey }).discover();
    expect(gateway.requests.map((seen) => [seen.origin, seen.path])).toEqual([[origin, path]]);
  });

  it.each(["http://gateway.example", "ftp://gateway.example", "https://me:pw@gateway.example", "/relative", ""])(
    "refuses the base %s",
    (baseUrl) => {
      expect(() => setUp({ baseUrl })).toThrowError(expect.objectContaining({ code: "invalid_url" }));
    },
  );

  it.each(["https://gateway.example/?a=1", "https://gateway.example/?", "https://gateway.example/#"])(
    "refuses the base %s for its query or fragment",
    (baseUrl) => {
      expect(() => setUp({ baseUrl })).toThrowError(expect.objectContaining({ code: "invalid_options" }));
    },
  );

  it.each(["", ".", "..", "../admin", "a/b", "A", "%2e%2e"])(
    "refuses the key %j, which could lead elsewhere",
    (key) => {
      const { factory, gateway } = setUp();
      expect(() => factory.create({ ...REQUEST, connectorKey: key })).toThrowError(
        expect.objectContaining({ code: "invalid_argument", delivery: "not_sent" }),
      );
      expect(gateway.open).toBe(0);
    },
  );

  it("pins the release's version in a header and in _meta, equal on every request", async () => {
    const { gateway, factory } = setUp();
    const client = factory.create({ ...REQUEST, version: "2.1.0-rc.1" });
    await client.discover();
    await client.callTool({ name: "search", arguments: {} }, { contract: { parameters: [] } });
    for (const seen of gateway.requests) {
      expect(seen.headers.get("tutti-connector-version")).toBe("2.1.0-rc.1");
      expect(seen.params["_meta"]).toMatchObject({
        "sh.tutti/connectorVersion": "2.1.0-rc.1",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "test-host", version: "1" },
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      });
    }
    expect(gateway.methods).toEqual(["server/discover", "tools/call"]);
  });

  it("pins it under the product's own names", async () => {
    const { gateway, factory } = setUp({ versionHeader: "X-Pin", versionMetaKey: "example.org/pin" });
    await factory.create(REQUEST).discover();
    const [seen] = gateway.requests;
    expect(seen?.headers.get("x-pin")).toBe("1.0.0");
    expect(seen?.headers.has("tutti-connector-version")).toBe(false);
    expect(seen?.params["_meta"]).toMatchObject({ "example.org/pin": "1.0.0" });
    expect(seen?.params["_meta"]).not.toHaveProperty(["sh.tutti/connectorVersion"]);
  });

  it("lets no caller's _meta override the pin or a reserved key", async () => {
    const { gateway, factory } = setUp();
    const client = factory.create(REQUEST);
    for (const key of ["sh.tutti/connectorVersion", "io.modelcontextprotocol/clientCapabilities"]) {
      await expect(
        client.callTool({ name: "x" }, { contract: { parameters: [] }, meta: { [key]: "9" } }),
      ).rejects.toMatchObject({
        code: "invalid_argument",
        delivery: "not_sent",
      });
    }
    expect(gateway.requests).toEqual([]);
  });

  it.each([
    { versionHeader: "no token" },
    { versionHeader: "Mcp-Version" },
    { versionHeader: "Host" },
    { versionMetaKey: "no key/ " },
    { versionMetaKey: "io.modelcontextprotocol/pin" },
    { baseURL: "https://gateway.example" },
  ])("refuses %j", (options: object) => {
    expect(() => setUp(options)).toThrowError(
      expect.objectContaining({ code: expect.stringMatching(/^invalid_(options|header)$/) }),
    );
  });

  it("asks for credentials for each request anew, and puts none anywhere else", async () => {
    const { gateway, logins, factory } = setUp();
    const client = factory.create(REQUEST);
    expect(logins.asked).toBe(0);
    await client.discover();
    await client.discover();
    expect(gateway.requests.map((seen) => seen.headers.get("cookie"))).toEqual([
      "session=acc-1-7-1",
      "session=acc-1-7-2",
    ]);
    expect(JSON.stringify(gateway.requests.map((seen) => seen.body))).not.toContain("session=");
  });

  it("P-8: sends nothing for a login that has ended, though the same account is signed in again", async () => {
    const { gateway, logins, factory } = setUp();
    const client = factory.create(REQUEST);
    logins.generations.set("acc-1", 8);
    await expect(client.discover()).rejects.toMatchObject({ code: "authorize_failed", delivery: "not_sent" });
    expect(gateway.requests).toEqual([]);
    await factory.create(REQUEST).discover();
    expect(gateway.requests[0]?.headers.get("cookie")).toContain("acc-1-8");
  });

  it("makes no client for an account that is signed out; login 0 is a login", () => {
    const { logins, factory, gateway } = setUp();
    expect(() => factory.create({ ...REQUEST, accountId: "acc-2" })).toThrowError(
      expect.objectContaining({ code: "account_not_ready", delivery: "not_sent" }),
    );
    expect(gateway.open).toBe(0);
    logins.generations.set("acc-2", 0);
    expect(() => factory.create({ ...REQUEST, accountId: "acc-2" })).not.toThrow();
  });

  it("H-14: its calls obey admit just before the first byte", async () => {
    const { gateway, factory } = setUp();
    const client = factory.create(REQUEST);
    const call = client.callTool({ name: "x" }, { contract: { parameters: [] }, admit: () => "route_revoked" });
    await expect(call).rejects.toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    expect(gateway.requests).toEqual([]);
  });

  it("makes a client of its own each time, and closing one leaves the others", async () => {
    const { gateway, factory } = setUp();
    const [first, second] = [factory.create(REQUEST), factory.create(REQUEST)];
    await first.close();
    await first.close();
    expect(gateway.open).toBe(1);
    await expect(first.discover()).rejects.toMatchObject({ code: "cancelled" });
    await second.discover();
    await second.close();
    expect(gateway.open).toBe(0);
  });
});
