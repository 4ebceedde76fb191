import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ManagementView } from "../../../../src/connector-host/index.js";
import { agentOf, arrived, HostParties, holding } from "../host-parties.js";
import { timesAsked } from "../permission-parties.js";
import { adminHost, ask, reach } from "./admin-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const JSON_BODY = { "Content-Type": "application/json" };

/** Everything in a value that could be called. */
function callable(value: unknown, path = ""): readonly string[] {
  if (typeof value === "function") return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => callable(member, `${path}.${name}`));
}

describe("H-33: the admin plane over the control socket", () => {
  it("H-33, H-36: gives a view of everything, without secrets and without anything that could be called", async () => {
    const { directory, host } = await adminHost(parties);
    const { headers } = await host.bindDurable({ name: "editor", accountId: "ada" });
    await host.connectors.setPermission("a", "drop", "ask");
    await host.connectors.setPermission("a", "gone", "off");
    await agentOf(host).list();
    const { admin } = await reach(parties, directory);
    const view = await admin.view();
    expect(view).toMatchObject({
      host: { name: "desk", version: "1.0.0" },
      url: host.url,
      accountId: "ada",
      durableBindings: [{ name: "editor", accountId: "ada" }],
      agents: { bindings: 1, durableBindings: 1 },
      approvals: [],
      calls: [],
      connectors: [
        {
          connectorKey: "a",
          kind: "release",
          state: "ready",
          version: "1.0.0",
          enabled: true,
          capabilities: ["tools"],
          listing: "live",
          newTools: "allow",
          tools: [
            {
              nativeName: "drop",
              exposedName: "a_drop",
              title: "Drop it",
              description: "Drops.",
              permission: "ask",
              isDecided: true,
            },
            { nativeName: "read", exposedName: "a_read", permission: "allow", isDecided: false },
            { nativeName: "gone", permission: "off", isDecided: true },
          ],
          catalog: { isStale: false },
        },
      ],
    });
    const text = JSON.stringify(view);
    expect(text).not.toContain(headers.Authorization.slice("Bearer ".length));
    expect(text).not.toContain("earer");
    const local: ManagementView = await host.admin.view();
    expect(callable(local)).toEqual([]);
    expect(JSON.parse(JSON.stringify(local))).toEqual(JSON.parse(text));
  });

  it("H-33: a view has no call method: types", () => {
    const noCalls = (view: ManagementView): void => {
      // @ts-expect-error It shows, and does nothing.
      void view.testCall;
      // @ts-expect-error Neither does a connector in it.
      void view.connectors[0]?.call;
    };
    expect(noCalls).toBeTypeOf("function");
  });

  it("H-33, H-20: an agent's bearer opens nothing of it, and nobody is asked", async () => {
    const { directory, host } = await adminHost(parties);
    const { headers } = host.bind({ workspaceId: "w", agentSessionId: "s" });
    const socketPath = join(directory, "control.sock");
    for (const path of ["/v1/status", "/v1/admin/view", "/v1/admin/set-enabled", "/v1/admin/link", "/mcp"]) {
      for (const method of ["GET", "POST"]) {
        const body = method === "POST" ? '{"params":{}}' : "";
        const answer = await ask({ socketPath, path }, { method, headers: { ...JSON_BODY, ...headers }, body });
        expect([answer.status, answer.text]).toEqual([403, '{"error":{"reason":"bearer_refused"}}']);
      }
    }
    const browser = await ask(
      { socketPath, path: "/v1/admin/view" },
      { method: "POST", headers: { ...JSON_BODY, Origin: host.url }, body: '{"params":{}}' },
    );
    expect([browser.status, browser.text]).toEqual([403, '{"error":{"reason":"origin_refused"}}']);
  });

  it("H-33: a test call is a person's: asked for with its arguments, made once, with its result or its failure", async () => {
    const { directory, gateway, host } = await adminHost(parties);
    await host.connectors.setPermission("a", "drop", "off");
    const { admin, questions } = await reach(parties, directory);
    const argumentsText = '{"n": 12345678901234567890}';
    const result = await admin.testCall({ connectorKey: "a", nativeName: "drop", argumentsText });
    expect(result).toMatchObject({ delivery: "answered", isError: false });
    expect(questions).toEqual([
      'Call once, whatever agents may do with it, the tool "drop" of "a" with the arguments "{\\"n\\": 12345678901234567890}".',
    ]);
    expect(gateway.calls.find(({ method }) => method === "tools/call")?.body).toContain("12345678901234567890");
    gateway.script("a", (call) => {
      if (call.method === "tools/list") {
        call.result('{"resultType":"complete","tools":[{"name":"drop","inputSchema":{"type":"object"}}]}');
      } else call.error(-32050, 200, { why: "so" });
    });
    await expect(admin.testCall({ connectorKey: "a", nativeName: "drop" })).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
      details: { rpcCode: -32050, rpcData: { why: "so" } },
    });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(2);
  });

  it("H-33: a test call ends at its server when whoever asked for it goes, and with the host", async () => {
    const { directory, gateway, host } = await adminHost(parties);
    const held = holding(gateway, "a", "tools/call");
    const leaving = await reach(parties, directory);
    const running = leaving.admin.testCall({ connectorKey: "a", nativeName: "echo" }).catch((error: unknown) => error);
    await arrived(held);
    const gone = new Promise((resolve) => held[0]?.response.once("close", resolve));
    await leaving.connection.close();
    await gone;
    expect(await running).toMatchObject({ code: "cancelled" });
    const staying = await reach(parties, directory);
    const ending = staying.admin.testCall({ connectorKey: "a", nativeName: "echo" }).catch((error: unknown) => error);
    await arrived(held, 2);
    await host.close();
    expect(await ending).toMatchObject({ code: "cancelled", delivery: "unknown" });
    await expect(staying.admin.view()).rejects.toMatchObject({ code: "connect_failed" });
  });

  it("H-33, H-32: a call that asks waits in the view; approving it needs a person, denying it doesn't", async () => {
    const { directory, gateway, host } = await adminHost(parties, { operatorApprovals: true });
    await host.connectors.setPermission("a", "drop", "ask");
    const agent = agentOf(host);
    const { admin, questions } = await reach(parties, directory);
    const no = await reach(parties, directory, () => false);
    const waiting = async () => {
      await expect.poll(async () => (await admin.approvals()).length, { timeout: 5_000 }).toBe(1);
      const view = await admin.view();
      expect(view.approvals).toEqual(await admin.approvals());
      return view.approvals[0]?.id ?? "";
    };
    const denied = agent.call("a_drop", { path: "/\u001b[2J" });
    await admin.decideApproval(await waiting(), "deny");
    expect((await denied).error).toBeDefined();
    expect(questions).toEqual([]);
    const approved = agent.call("a_drop", { path: "/\u001b[2J" });
    const id = await waiting();
    await expect(no.admin.decideApproval(id, "approve")).rejects.toMatchObject({ code: "cancelled" });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
    expect(await admin.approvals()).toHaveLength(1);
    await admin.decideApproval(id, "approve");
    expect((await approved).result).toBeDefined();
    expect(timesAsked(gateway, "a", "tools/call")).toBe(1);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain('the tool "drop" of "a" with the arguments {"path":"/\\u001b[2J"}');
    await expect(admin.decideApproval(id, "approve")).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await admin.approvals()).toEqual([]);
  });

  it("H-33, H-35: what became unknown is listed, and acknowledged without a person", async () => {
    const { directory, gateway, host } = await adminHost(parties);
    const held = holding(gateway, "a", "tools/call");
    const { admin } = await reach(parties, directory);
    const running = host.testCall({ connectorKey: "a", nativeName: "echo" }).catch((error: unknown) => error);
    await arrived(held);
    held[0]?.request.socket.destroy();
    await running;
    const [call] = await admin.calls({ verdict: "unknown", limit: 1 });
    expect(call).toMatchObject({ kind: "test", verdict: "unknown", errorCode: "connection_broken" });
    expect(call).not.toHaveProperty("argumentHmac");
    expect(await admin.acknowledgeCalls([call?.id ?? ""])).toBe(1);
    expect(await admin.acknowledgeCalls([call?.id ?? ""])).toBe(0);
    expect((await admin.calls({ limit: 1 }))[0]?.acknowledgedAt).toBeTypeOf("number");
  });

  it("H-33, H-30: the view says when a registration's tools were listed, and that its server is gone", async () => {
    const gateway = await parties.gateway();
    const settings = { endpoint: `${gateway.url}/v1/connectors/docs/mcp`, protocol: "modern" };
    const { directory, host } = await adminHost(parties, {
      registrations: [{ slug: "docs", displayName: "Docs", settings }],
    });
    const { admin } = await reach(parties, directory);
    const docs = async () => (await admin.view()).connectors.find(({ connectorKey }) => connectorKey === "docs");
    await expect.poll(async () => (await docs())?.catalog?.isStale, { timeout: 5_000 }).toBe(false);
    const listed = await docs();
    expect(listed).toMatchObject({
      listing: "catalog",
      origin: gateway.url,
      tools: [{ nativeName: "echo", exposedName: "docs_echo" }],
    });
    expect(Math.abs(Date.now() - (listed?.catalog?.fetchedAt ?? 0))).toBeLessThan(60_000);
    await host.gates.close("device");
    expect(await docs()).toMatchObject({ catalog: { isStale: true }, tools: [{ nativeName: "echo" }] });
    host.gates.open("device");
    await expect.poll(async () => (await docs())?.catalog?.isStale, { timeout: 5_000 }).toBe(false);
    const asked = timesAsked(gateway, "docs", "tools/list");
    await admin.view();
    expect(timesAsked(gateway, "docs", "tools/list")).toBe(asked);
    await admin.refresh("docs");
    expect(timesAsked(gateway, "docs", "tools/list")).toBe(asked + 1);
  });

  it("H-33: failures of the host come back as they are", async () => {
    const { directory } = await adminHost(parties, {
      registrations: [{ slug: "docs", displayName: "Docs", settings: { endpoint: "http://127.0.0.1:9/mcp" } }],
    });
    const { admin } = await reach(parties, directory);
    await expect(admin.permissions("none")).rejects.toMatchObject({
      code: "unknown_connector",
      details: { connectorKey: "none" },
    });
    await expect(admin.setPermission("none", "x", "off")).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(admin.setEnabled("none", true)).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(admin.setRegistrationState("a", "active")).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(admin.setRegistrationState("docs", "paused")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(admin.decideApproval("1", "approve")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(admin.setPermission("a", "", "off")).rejects.toMatchObject({
      code: "invalid_argument",
      details: { argument: "body" },
    });
    await expect(admin.calls({ before: "no id" })).rejects.toMatchObject({ code: "invalid_argument" });
    expect(await admin.acknowledgeCalls([])).toBe(0);
    await admin.refresh();
    await expect(admin.refresh("none")).rejects.toMatchObject({ code: "unknown_connector" });
  });

  it("H-33: bodies are bounded, and of one shape", async () => {
    const { directory } = await adminHost(parties);
    const socketPath = join(directory, "control.sock");
    const post = (body: string) =>
      ask({ socketPath, path: "/v1/admin/view" }, { method: "POST", headers: JSON_BODY, body });
    expect(await post("x".repeat(2 * 1024 * 1024 + 1))).toMatchObject({ status: 413 });
    for (const body of [
      "",
      "null",
      "[]",
      "{}",
      '{"params":{"x":1}}',
      '{"params":{},"more":1}',
      '{"params":{},"confirmation":1}',
    ]) {
      expect(await post(body)).toMatchObject({ status: 400 });
    }
    expect(await post('{"params":{}}')).toMatchObject({ status: 200 });
  });
});
