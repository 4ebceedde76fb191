import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, expect, it } from "vitest";
import { arrived, becomes, holding, HostParties, statesOf } from "./host-parties.js";

const parties = new HostParties();

afterEach(() => parties.opened.close());

it("H-24, H-25, H-36: of 50 connectors with one dead, one silent and one late, an official client has 47 in time, the names of the rest, and the late one when it is told", async () => {
  const good = Array.from({ length: 47 }, (_, index) => `good-${String(index)}`);
  const keys = [...good, "dead", "silent", "late"];
  const gateway = await parties.gateway(Object.fromEntries(keys.map((key) => [key, 1])));
  const { host } = await parties.host(gateway, keys, { listBudgetMs: 800 });
  host.signIn("ada");
  await becomes(host, Object.fromEntries(keys.map((key) => [key, "ready"])));
  gateway.script("dead", ({ response }) => response.destroy());
  gateway.script("silent", () => undefined);
  const late = holding(gateway, "late", "tools/list");

  const bound = host.bind({ workspaceId: "w", agentSessionId: "s" });
  const client = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  parties.opened.push(client);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(bound.url), { requestInit: { headers: bound.headers } }),
  );
  const told: string[] = [];
  client.setNotificationHandler("notifications/tools/list_changed", ({ method }) => void told.push(method));
  await client.listen({ toolsListChanged: true });
  const list = async () => {
    const { tools, _meta } = await client.listTools();
    return { names: tools.map(({ name }) => name), omitted: _meta?.["sh.tutti/omitted"] };
  };

  const inTime = good.map((key) => `${key}_echo`).sort();
  const dead = { connectorKey: "dead", reason: "connection_broken" };
  const silent = { connectorKey: "silent", reason: "timeout" };
  expect(await list()).toEqual({
    names: inTime,
    omitted: [dead, { connectorKey: "late", reason: "timeout" }, silent],
  });
  expect(told).toEqual([]);
  const reasons = await statesOf(host);
  expect([reasons["dead"], reasons["late"], reasons["silent"]]).toEqual(["connection_broken", "timeout", "timeout"]);

  await arrived(late);
  late[0]?.result('{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}');
  await arrived(told);
  const names = [...inTime, "late_echo"].sort();
  expect(await list()).toEqual({ names, omitted: [dead, silent] });
  // What came late is what this list has: nobody was asked again for it.
  expect([told.length, late.length]).toEqual([1, 1]);
});
