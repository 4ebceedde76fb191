import { afterEach, describe, expect, it } from "vitest";
import { openConnectorHost } from "../../../../src/connector-host/index.js";
import { arrived, becomes, HostParties, holding } from "../host-parties.js";
import { offering, timesAsked } from "../permission-parties.js";
import { Gate } from "../../../../src/testing/index.js";
import { releaseOf } from "../../../support/releases.js";
import { working } from "../../../support/scripted-gateway.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const READY = { a: "ready" };

/** A host with one release, whose connector has a tool that is off and one that asks. */
async function released() {
  const gateway = await parties.gateway({ a: 1 });
  offering(gateway, "a", { tools: { drop: {}, write: {} } });
  const { host } = await parties.host(gateway, ["a"]);
  host.signIn("ada");
  await becomes(host, READY);
  await host.connectors.setPermission("a", "drop", "off");
  await host.connectors.setPermission("a", "write", "ask");
  return { gateway, host };
}

const DROP = { connectorKey: "a", nativeName: "drop" };

describe("H-33: a person's own call of a tool", () => {
  it.each(["drop", "write"])("H-33: calls %s, which agents may not, and changes no permission", async (nativeName) => {
    const { gateway, host } = await released();
    const before = host.connectors.permissions("a");
    const argumentsText = '{"id": 12345678901234567890, "x": 1.50}';
    const result = await host.testCall({ connectorKey: "a", nativeName, argumentsText });
    expect(result).toMatchObject({ era: "modern", resultType: "complete", isError: false, delivery: "answered" });
    expect(JSON.parse(result.raw)).toMatchObject({ content: [{ type: "text" }] });
    expect(host.connectors.permissions("a")).toEqual(before);
    const calls = gateway.calls.filter(({ method }) => method === "tools/call");
    expect(calls).toHaveLength(1);
    expect(calls[0]?.body).toContain("12345678901234567890");
    expect(calls[0]?.body).toContain("1.50");
    expect(calls[0]?.params["name"]).toBe(nativeName);
  });

  it("H-33, H-34: gives back the server's own bytes, and what it says of itself", async () => {
    const { gateway, host } = await released();
    const raw = '{"resultType":"complete","isError":true,"n":12345678901234567890,"content":[]}';
    const held = holding(gateway, "a", "tools/call");
    const running = host.testCall({ connectorKey: "a", nativeName: "echo" });
    await arrived(held);
    held[0]?.result(raw);
    expect(await running).toMatchObject({ raw, isError: true });
  });

  it.each([
    ["answers that the headers are others (-32020)", "header_mismatch"],
    ["drops the connection", "drop"],
    ["answers that it is overloaded", "overloaded"],
    ["answers that it speaks another revision (-32022)", "version"],
  ])("H-33, W-24: is sent once when the server %s", async (_, fault) => {
    const { gateway, host } = await released();
    const { calls } = gateway;
    gateway.script("a", (call) => {
      if (call.method === "tools/list") {
        return call.result('{"resultType":"complete","tools":[{"name":"drop","inputSchema":{"type":"object"}}]}');
      }
      if (fault === "drop") call.request.socket.destroy();
      else if (fault === "header_mismatch") call.error(-32020);
      else if (fault === "version") call.error(-32022, 400, { supported: ["2026-07-28", "2025-11-25"] });
      else call.response.writeHead(503, { "Retry-After": "0" }).end();
    });
    const failure: unknown = await host.testCall(DROP).catch((error: unknown) => error);
    expect(failure).toMatchObject(
      fault === "drop"
        ? { code: "connection_broken", delivery: "unknown" }
        : fault === "overloaded"
          ? { code: "unexpected_answer" }
          : { code: "peer_error", delivery: "answered" },
    );
    expect(calls.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  });

  it("H-33, H-13: does not go to the successor of its route, not even when nothing was sent", async () => {
    const gateway = await parties.gateway({ a: 1 });
    let isHeld = false;
    const gate = new Gate();
    const held: string[] = [];
    const { host, published } = await parties.host(gateway, ["a"], {
      contracts: "last_list",
      accounts: {
        async authorize({ accountId }) {
          if (isHeld) {
            isHeld = false;
            held.push(accountId);
            await gate.opened;
          }
          return {};
        },
      },
    });
    host.signIn("ada");
    await becomes(host, READY);
    const count = published.length;
    isHeld = true;
    const running = host.testCall({ connectorKey: "a", nativeName: "echo" }).catch((error: unknown) => error);
    await arrived(held);
    gateway.connect(2, { a: 2 });
    host.refresh();
    await expect.poll(() => published.length, { timeout: 5_000 }).toBeGreaterThan(count);
    await becomes(host, READY);
    gate.open();
    expect(await running).toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
  });

  it("H-33: needs the connector's switch and its route, an object, 256 KiB, and a tool that there is", async () => {
    const { gateway, host } = await released();
    const refused = async (request: object, expected: object) => {
      await expect(host.testCall({ ...DROP, ...request })).rejects.toMatchObject({
        delivery: "not_sent",
        ...expected,
      });
    };
    await refused({ argumentsText: "[1]" }, { code: "invalid_argument", details: { argument: "argumentsText" } });
    await refused({ argumentsText: "{" }, { code: "invalid_argument" });
    const large = JSON.stringify({ x: "x".repeat(256 * 1024) });
    await refused({ argumentsText: large }, { code: "limit_exceeded", details: { option: "maxArgumentsBytes" } });
    await refused({ nativeName: "none" }, { code: "unknown_tool", details: { tool: "none" } });
    await refused({ connectorKey: "b" }, { code: "unknown_connector", details: { connectorKey: "b" } });
    await refused({ timeoutMs: 0 }, { code: "invalid_options", details: { option: "timeoutMs" } });
    await host.connectors.setEnabled("a", false);
    await refused({}, { code: "route_unavailable", details: { state: "disabled" } });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
    host.signOut();
    await host.connectors.setEnabled("a", true);
    await refused({}, { code: "route_unavailable" });
    await host.close();
    await refused({}, { code: "cancelled" });
  });

  it("H-33, F-14: is sent once when the server says that it is elsewhere: a redirect is not followed", async () => {
    const { gateway, host } = await released();
    gateway.script("a", (call) => {
      if (call.method === "tools/call") call.response.writeHead(307, { Location: "mcp?again" }).end();
      else working(call);
    });
    const failure: unknown = await host
      .testCall({ connectorKey: "a", nativeName: "echo" })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "redirect_refused", delivery: "answered" });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(1);
  });

  it("H-33: has its time for all of it: what is late before it is sent is not sent", async () => {
    const { gateway, host } = await released();
    const held = holding(gateway, "a", "tools/list");
    const running = host.testCall({ connectorKey: "a", nativeName: "echo", timeoutMs: 50 });
    await expect(running).rejects.toMatchObject({
      code: "timeout",
      delivery: "not_sent",
      details: { option: "timeoutMs", limitMs: 50 },
    });
    for (const each of held) working(each);
    await host.gates.close("account");
    const waiting = host.testCall({ connectorKey: "a", nativeName: "echo", timeoutMs: 50 });
    await expect(waiting).rejects.toMatchObject({ code: "route_unavailable", delivery: "not_sent" });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
  });

  it.each(["list", "route"])(
    "H-33, H-40: ends with the host while it waits for a %s, and is not sent",
    async (awaited) => {
      const { gateway, host } = await released();
      const held = holding(gateway, "a", "tools/list");
      if (awaited === "route") await host.gates.close("account");
      const running = host.testCall({ connectorKey: "a", nativeName: "echo" }).catch((error: unknown) => error);
      if (awaited === "list") await arrived(held);
      const began = Date.now();
      await host.close();
      expect(await running).toMatchObject({ code: "cancelled", delivery: "not_sent" });
      expect(Date.now() - began).toBeLessThan(2_000);
      expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
    },
  );

  it("H-33: refuses by name what is no part of it: a call with other arguments than were meant is worse than none", async () => {
    const { gateway, host } = await released();
    const misspelt = { ...DROP, argumentText: '{"path":"notes"}' };
    await expect(host.testCall(misspelt)).rejects.toMatchObject({
      code: "invalid_options",
      details: { option: "argumentText", suggestion: "argumentsText" },
    });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
  });

  it("H-33: ends with its caller's signal", async () => {
    const { gateway, host } = await released();
    const held = holding(gateway, "a", "tools/call");
    const stop = new AbortController();
    const running = host.testCall({ connectorKey: "a", nativeName: "echo", signal: stop.signal });
    await arrived(held);
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
  });

  it("H-33, H-35: is written down before it is sent, as a person's own", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const host = await openConnectorHost({
      baseUrl: gateway.url,
      releases: [releaseOf("a")],
      accounts: { authorize: () => ({}) },
      hostInfo: { name: "desk", version: "1.0.0" },
      hintsUrl: false,
      stateDirectory: await parties.folder(),
    });
    parties.opened.push(host);
    host.signIn("ada");
    await becomes(host, READY);
    await host.testCall({ connectorKey: "a", nativeName: "echo", argumentsText: '{"x":1}' });
    const [row] = await host.admin.calls();
    expect(row).toMatchObject({ kind: "test", connectorKey: "a", nativeName: "echo", verdict: "answered", attempt: 1 });
    expect(row?.agentSessionId).toBeUndefined();
    expect((await host.admin.view()).calls).toEqual([row]);
  });
});
