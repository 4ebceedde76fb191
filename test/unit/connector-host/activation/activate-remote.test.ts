import { describe, expect, it } from "vitest";
import {
  activateRemote,
  ActivationMemory,
  type RemoteActivation,
  type RemoteActivationPorts,
  type RemoteActivationRequest,
} from "../../../../src/connector-host/activation/index.js";
import {
  DirectFactory,
  type RemoteMcpClient,
  type RemoteMcpClientRequest,
} from "../../../../src/connector-host/factories/index.js";
import { localConnectionId, parseRelease, releaseDigest } from "../../../../src/connector-host/release/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import type { ToolList } from "../../../../src/modern-client/index.js";
import type { JsonObject } from "../../../../src/protocol/index.js";
import { settle } from "../../../support/fake-clock.js";
import {
  type Answering,
  DISCOVERED,
  type GatewayAnswer,
  MemoryGateway,
  TestLogins,
} from "../factories/memory-gateway.js";
import { publishedRelease } from "../release/release.fixture.js";

const RELEASE = parseRelease(publishedRelease());
const OPEN_RELEASE = parseRelease(publishedRelease({ authorization: { kind: "none" } }));

function tool(name: unknown, more: JsonObject = {}): JsonObject {
  return { name, inputSchema: { type: "object" }, ...more };
}

/** Answers discover and one page of tools; `changes` replace the answers of methods. */
function serving(tools: readonly unknown[], changes: Readonly<Record<string, GatewayAnswer>> = {}): Answering {
  return ({ method }) => {
    if (Object.hasOwn(changes, method)) return changes[method];
    return method === "server/discover" ? { result: DISCOVERED } : { result: { resultType: "complete", tools } };
  };
}

class Bench {
  readonly gateway: MemoryGateway;
  readonly created: RemoteMcpClientRequest[] = [];
  readonly memory = new ActivationMemory();
  readonly controller = new AbortController();
  /** Methods of the clients that do something else. */
  readonly overrides: Partial<RemoteMcpClient> = {};
  readonly #factory: DirectFactory;

  constructor(answer: Answering = serving([tool("search")])) {
    this.gateway = new MemoryGateway(answer);
    this.#factory = new DirectFactory({
      baseUrl: "https://gateway.example",
      logins: new TestLogins(),
      clientInfo: { name: "test-host", version: "1" },
      createExchange: this.gateway.createExchange,
    });
    this.memory.switchLogin(7);
  }

  activate(
    request: Partial<RemoteActivationRequest> = {},
    ports: Partial<RemoteActivationPorts> = {},
  ): Promise<RemoteActivation> {
    return activateRemote(
      {
        operationId: "op-1",
        accountId: "acc-1",
        loginGeneration: 7,
        generation: 3,
        release: RELEASE,
        authorizationState: "connected",
        connectionVersion: 3n,
        serverRevision: 12n,
        ...request,
      },
      {
        factory: {
          create: (each) => {
            this.created.push(each);
            return Object.assign(this.#factory.create(each), this.overrides);
          },
        },
        memory: this.memory,
        hostVersion: "1.0.0",
        signal: this.controller.signal,
        ...ports,
      },
    );
  }
}

describe("H-9: activation of a remote connector", () => {
  it("asks the factory by lifecycle identity alone, then the server what it is, then for its tools", async () => {
    const bench = new Bench();
    const active = await bench.activate();
    expect(bench.created).toEqual([
      {
        operationId: "op-1",
        connectionId: localConnectionId("acc-1", "tencent-docs"),
        connectorKey: "tencent-docs",
        accountId: "acc-1",
        releaseDigest: releaseDigest(RELEASE),
        version: "1.0.0",
        generation: 3,
        binding: {
          protocolVersion: "2026-07-28",
          bindingRef: "tencent-docs.primary",
          contractVersion: 1,
          bindingContractHash: `sha256:${"ab".repeat(32)}`,
        },
      },
    ]);
    expect(bench.gateway.methods).toEqual(["server/discover", "tools/list"]);
    expect([...active.tools.keys()]).toEqual(["search"]);
    expect(active).toMatchObject({
      connectionId: localConnectionId("acc-1", "tencent-docs"),
      releaseDigest: releaseDigest(RELEASE),
      discovered: { supportedVersions: ["2026-07-28"] },
      isListRemembered: false,
      diagnostics: [],
    });
    expect(bench.gateway.open).toBe(1);
    await active.client.close();
    expect(bench.gateway.open).toBe(0);
  });

  it("walks all pages", async () => {
    const bench = new Bench(({ method, params }) => {
      if (method === "server/discover") return { result: DISCOVERED };
      const cursor = params["cursor"];
      if (cursor === undefined) return { result: { tools: [tool("a")], nextCursor: "" } };
      return {
        result: cursor === "" ? { tools: [tool("b")], nextCursor: "x" } : { tools: [tool("c")], nextCursor: null },
      };
    });
    expect([...(await bench.activate()).tools.keys()]).toEqual(["a", "b", "c"]);
  });

  it("leaves out bad tools one by one, with diagnostics, and keeps the contract of the others", async () => {
    const region = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    const bench = new Bench(
      serving([
        tool("good", { inputSchema: region, annotations: { destructiveHint: true } }),
        tool("bad", { inputSchema: { type: "object", properties: { a: { type: "object", "x-mcp-header": "A" } } } }),
        { name: "no schema" },
        null,
        tool(""),
        tool("\ud800"),
        tool("__proto__"),
        tool("constructor"),
      ]),
    );
    const { tools, diagnostics } = await bench.activate();
    expect([...tools.keys()]).toEqual(["good", "__proto__", "constructor"]);
    expect(tools.get("good")?.contract.parameters).toEqual([{ header: "Mcp-Param-Region", path: ["region"] }]);
    expect(tools.get("good")?.tool.annotations).toEqual({ destructiveHint: true });
    const kinds = diagnostics.map((each) => (each.kind === "tolerated" ? each.diagnostic.kind : each.kind));
    expect(kinds.sort()).toEqual(["entry_dropped", "entry_dropped", "tool_excluded", "unusable_name", "unusable_name"]);
  });

  it("drops a name that came twice whole", async () => {
    const bench = new Bench(serving([tool("a"), tool("b"), tool("a", { title: "other" }), tool("a")]));
    const { tools, diagnostics } = await bench.activate();
    expect([...tools.keys()]).toEqual(["b"]);
    expect(diagnostics).toContainEqual({ kind: "duplicate_tool", tool: "a" });
  });

  it("keeps 512 tools in the server's order, and says how many it left out", async () => {
    const bench = new Bench(serving(Array.from({ length: 515 }, (_, index) => tool(`t${String(index)}`))));
    const { tools, diagnostics } = await bench.activate();
    expect(tools.size).toBe(512);
    expect([tools.has("t511"), tools.has("t512")]).toEqual([true, false]);
    expect(diagnostics).toEqual([{ kind: "too_many_tools", kept: 512, leftOut: 3 }]);
  });

  it.each<[string, Answering, object]>([
    ["lists nothing", serving([]), { code: "invalid_answer", delivery: "answered" }],
    ["lists nothing usable", serving([null, tool("")]), { code: "invalid_answer", delivery: "answered" }],
    [
      "offers no tools",
      serving([tool("a")], { "server/discover": { result: { ...DISCOVERED, capabilities: { prompts: {} } } } }),
      { code: "unsupported", delivery: "answered", details: { feature: "tools" } },
    ],
    [
      "has capabilities of a wrong shape",
      serving([tool("a")], { "server/discover": { result: { ...DISCOVERED, capabilities: { tools: true } } } }),
      { code: "unsupported" },
    ],
    [
      "speaks another revision",
      serving([tool("a")], { "server/discover": { result: { ...DISCOVERED, supportedVersions: ["2025-11-25"] } } }),
      { code: "unsupported_version", delivery: "answered" },
    ],
    ["can't be reached", () => ({ refusesConnection: true }), { code: "connect_failed", delivery: "not_sent" }],
    [
      "fails with 502",
      serving([tool("a")], { "tools/list": { status: 502, body: "bad gateway" } }),
      { code: "unexpected_answer", delivery: "unknown" },
    ],
    [
      "fails with an error of its own",
      serving([tool("a")], { "tools/list": { error: { code: -33_006, message: "upstream" } } }),
      { code: "peer_error", details: { rpcCode: -33_006 } },
    ],
  ])("closes the client and remembers nothing when the connector %s", async (_, answer, expected) => {
    const bench = new Bench(answer);
    await expect(bench.activate()).rejects.toMatchObject(expected);
    expect(bench.gateway.open).toBe(0);
    expect(bench.memory.size).toBe(0);
  });

  it("checks that the server speaks the revision that the release names", async () => {
    const bench = new Bench();
    const other = { ...RELEASE, runtime: { ...RELEASE.runtime, protocolVersion: "2027-01-01" } };
    const failing = bench.activate({ release: Object.assign(Object.create(null), other) });
    await expect(failing).rejects.toMatchObject({ code: "unsupported_version", details: { ours: ["2027-01-01"] } });
    expect(bench.gateway.open).toBe(0);
  });

  it("H-1: refuses a release that needs a newer host before anything is made", async () => {
    const bench = new Bench();
    const release = parseRelease(publishedRelease({ minimumHostVersion: "1.0.1" }));
    await expect(bench.activate({ release })).rejects.toMatchObject({
      code: "invalid_release",
      details: { member: "minimumHostVersion" },
    });
    expect(bench.created).toEqual([]);
  });

  it("H-29: reads the skills of that release after its tools, and closes the client when they can't be used", async () => {
    const bench = new Bench();
    const asked: unknown[] = [];
    const skills = { connectorKey: "tencent-docs", root: "/skills", skills: [] };
    const active = await bench.activate(
      {},
      {
        readSkills: (...question) => {
          asked.push(question, ...bench.gateway.methods);
          return Promise.resolve(skills);
        },
      },
    );
    expect(active.skills).toBe(skills);
    const question = ["tencent-docs", releaseDigest(RELEASE), bench.controller.signal];
    expect(asked).toEqual([question, "server/discover", "tools/list"]);

    const other = new Bench();
    const fault = new RemoteConnectorError("invalid_skills", {
      message: "no",
      details: { connectorKey: "tencent-docs", path: "", reason: "is not there" },
    });
    await expect(other.activate({}, { readSkills: () => Promise.reject(fault) })).rejects.toBe(fault);
    expect([other.gateway.open, other.memory.size]).toEqual([0, 0]);
  });

  it("H-29: an activation that is aborted while skills are read is none", async () => {
    const bench = new Bench();
    const reason = new Error("enough");
    const readSkills = (): Promise<undefined> => {
      bench.controller.abort(reason);
      return Promise.resolve(undefined);
    };
    await expect(bench.activate({}, { readSkills })).rejects.toBe(reason);
    expect([bench.gateway.open, bench.memory.size]).toEqual([0, 0]);
  });

  it("passes on what the factory throws", async () => {
    const bench = new Bench();
    await expect(bench.activate({ accountId: "acc-9" })).rejects.toMatchObject({ code: "account_not_ready" });
  });
});

describe("H-9: what the account has to do first", () => {
  it.each([
    ["disconnected", false],
    ["expired", true],
  ] as const)("%s is an error before anything is sent", async (authorizationState, reauthorize) => {
    const bench = new Bench();
    await expect(bench.activate({ authorizationState })).rejects.toMatchObject({
      code: "authorization_required",
      delivery: "not_sent",
      details: { connectorKey: "tencent-docs", reauthorize },
    });
    expect(bench.created).toEqual([]);
  });

  it("is nothing for a release without authorization", async () => {
    const bench = new Bench();
    const active = await bench.activate({ release: OPEN_RELEASE, authorizationState: "disconnected" });
    expect(active.tools.size).toBe(1);
  });

  it.each<[string, GatewayAnswer, boolean]>([
    ["-33001", { status: 428, error: { code: -33_001, message: "authorize" } }, false],
    ["-33002", { error: { code: -33_002, message: "again" } }, true],
    ["a bare 428", { status: 428, body: "", headers: { "content-type": "text/plain" } }, false],
    ["a 428 with another error", { status: 428, error: { code: -32_000, message: "?" } }, false],
  ])("is authorization_required after %s, on discover and on the list", async (_, answer, reauthorize) => {
    for (const method of ["server/discover", "tools/list"]) {
      const bench = new Bench(serving([tool("a")], { [method]: answer }));
      await expect(bench.activate()).rejects.toMatchObject({
        code: "authorization_required",
        delivery: "answered",
        details: { connectorKey: "tencent-docs", reauthorize },
        cause: expect.any(RemoteConnectorError),
      });
      expect(bench.gateway.open).toBe(0);
      expect(bench.memory.size).toBe(0);
    }
  });

  it("P-6: is an integration fault when the release needs none", async () => {
    const bench = new Bench(serving([tool("a")], { "tools/list": { status: 428, body: "" } }));
    await expect(bench.activate({ release: OPEN_RELEASE })).rejects.toMatchObject({
      code: "invalid_answer",
      delivery: "answered",
    });
    expect(bench.gateway.open).toBe(0);
  });
});

describe("H-10: the memory of lists", () => {
  it("skips the list for the same identity, and nothing else: discover runs every time", async () => {
    const bench = new Bench();
    const first = await bench.activate();
    const second = await bench.activate({ generation: 4 });
    expect(bench.gateway.methods).toEqual(["server/discover", "tools/list", "server/discover"]);
    expect(second.isListRemembered).toBe(true);
    expect(second.tools).toBe(first.tools);
    expect(second.client).not.toBe(first.client);
  });

  it("does not help a server that stopped answering", async () => {
    const bench = new Bench();
    await bench.activate();
    bench.gateway.answer = () => ({ refusesConnection: true });
    await expect(bench.activate()).rejects.toMatchObject({ code: "connect_failed" });
  });

  it.each([
    ["connection version", { connectionVersion: 4n }],
    ["server revision", { serverRevision: 13n }],
    ["release", { release: parseRelease(publishedRelease({ version: "1.0.1" })) }],
  ])("misses for another %s", async (_, change) => {
    const bench = new Bench();
    await bench.activate();
    await bench.activate(change);
    expect(bench.gateway.methods.filter((method) => method === "tools/list")).toHaveLength(2);
  });

  it("is not written by a failure, so that the list runs again", async () => {
    const bench = new Bench(serving([tool("a")], { "tools/list": { status: 428, body: "" } }));
    await expect(bench.activate()).rejects.toMatchObject({ code: "authorization_required" });
    bench.gateway.answer = serving([tool("a")]);
    const active = await bench.activate();
    expect(active.isListRemembered).toBe(false);
    expect(active.tools.size).toBe(1);
  });

  it("is not written by an activation of an earlier login that ends late", async () => {
    const bench = new Bench((request) => {
      if (request.method === "tools/list") bench.memory.switchLogin(8);
      return serving([tool("a")])(request);
    });
    expect((await bench.activate()).tools.size).toBe(1);
    expect(bench.memory.size).toBe(0);
  });
});

describe("H-9: an aborted activation", () => {
  it.each(["server/discover", "tools/list"])(
    "ends during %s with the signal's reason, and closes its client",
    async (at) => {
      const bench = new Bench((request) => (request.method === at ? undefined : serving([tool("a")])(request)));
      const activating = bench.activate();
      await settle();
      expect(bench.gateway.methods.at(-1)).toBe(at);
      const reason = new Error("newer desired");
      bench.controller.abort(reason);
      await expect(activating).rejects.toBe(reason);
      expect(bench.gateway.open).toBe(0);
      expect(bench.memory.size).toBe(0);
    },
  );

  it("does not begin when the signal has fired", async () => {
    const bench = new Bench();
    bench.controller.abort("over");
    await expect(bench.activate()).rejects.toBe("over");
    expect(bench.created).toEqual([]);
  });

  it("is not reported as done when the signal fired with the last answer", async () => {
    const bench = new Bench((request) => {
      if (request.method === "tools/list") bench.controller.abort("over");
      return serving([tool("a")])(request);
    });
    await expect(bench.activate()).rejects.toBe("over");
    expect(bench.gateway.open).toBe(0);
    expect(bench.memory.size).toBe(0);
  });

  it("is not reported as done when the signal fired after it", async () => {
    const bench = new Bench();
    const listed = await (await bench.activate()).client.listAllTools();
    const listAllTools = async (): Promise<ToolList> => {
      queueMicrotask(() => bench.controller.abort("over"));
      await Promise.resolve();
      return listed;
    };
    Object.assign(bench.overrides, { listAllTools });
    await expect(bench.activate({ serverRevision: 99n })).rejects.toBe("over");
    expect(bench.memory.size).toBe(1);
  });

  it("reports a client that can't be closed, and still fails with the reason of the failure", async () => {
    const bench = new Bench(serving([]));
    const failures: unknown[] = [];
    const stuck = new Error("stuck");
    Object.assign(bench.overrides, { close: () => Promise.reject(stuck) });
    const activating = bench.activate({}, { onCloseFailure: (error) => failures.push(error) });
    await expect(activating).rejects.toMatchObject({ code: "invalid_answer" });
    await settle();
    expect(failures).toEqual([stuck]);
  });
});
