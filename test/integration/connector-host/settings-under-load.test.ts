import { afterEach, expect, it } from "vitest";
import { toolsText } from "../../support/directory-party.js";
import { working } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, holding, HostParties } from "./host-parties.js";

const parties = new HostParties();

afterEach(() => parties.opened.close());

it("H-3, H-13: settings that are replaced under sixteen calls end all of them at once, each as unknown, and the new server's tools come", async () => {
  const gateway = await parties.gateway();
  const { host, published } = await parties.host(gateway, [], { contracts: "last_list" });
  const { connectors } = host;
  const settingsOf = (key: string) => ({ endpoint: `${gateway.url}/v1/connectors/${key}/mcp`, protocol: "modern" });
  await connectors.registrations.create({ slug: "docs", displayName: "Docs", settings: settingsOf("old") });
  await connectors.setNewTools("docs", "allow");
  await connectors.registrations.setState("docs", "active");
  await becomes(host, { docs: "ready" });
  const agent = agentOf(host);
  expect((await agent.list()).names).toEqual(["docs_echo"]);

  const held = holding(gateway, "old", "tools/call");
  gateway.script("new", (call) => (call.method === "tools/list" ? call.result(toolsText("fresh")) : working(call)));
  const calls = Array.from({ length: 16 }, () => agent.call("docs_echo"));
  await arrived(held, 16);
  const { changed } = await connectors.registrations.replaceSettings("docs", settingsOf("new"));
  expect(changed).toBe("settings");
  const unknown = { "sh.tutti/delivery": expect.objectContaining({ delivery: "unknown", code: "cancelled" }) };
  const ended = await Promise.all(calls);
  expect(ended.map(({ error }) => error?.data)).toEqual(Array.from({ length: 16 }, () => unknown));
  // The server still holds every one of them: what ended the calls was the change.
  expect(held.every(({ response }) => !response.writableEnded)).toBe(true);
  const sentToOld = gateway.calls.length;

  await becomes(host, { docs: "ready" });
  expect((await agent.list()).names).toEqual(["docs_fresh"]);
  expect((await agent.call("docs_fresh")).result).toBeDefined();
  const gone = { "sh.tutti/delivery": expect.objectContaining({ delivery: "not_sent", code: "unknown_tool" }) };
  expect((await agent.call("docs_echo")).error?.data).toEqual(gone);
  expect(published.map((each) => each.replace(/ .*/, ""))).toEqual(["published", "withdrawn", "published"]);
  const later = gateway.calls.slice(sentToOld).map(({ connectorKey }) => connectorKey);
  expect(new Set(later)).toEqual(new Set(["new"]));
});
