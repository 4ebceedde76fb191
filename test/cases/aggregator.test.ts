import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/connect/index.js";
import type { RemoteMcpClient } from "../../src/connector-host/factories/index.js";
import { ConnectorHost } from "../../src/connector-host/index.js";
import { createMemoryStore } from "../../src/store/index.js";
import {
  answerFeed,
  EventFeed,
  likeLegacyServer,
  type LegacyServerOptions,
  messageEvent,
  notificationMessage,
} from "../../src/testing/index.js";
import { AskingServer } from "../support/asking-server.js";
import { bindingOf, DirectoryParty, OF_DEVICE, TOOLS_CHANGED, toolsText } from "../support/directory-party.js";
import { FakeClock } from "../support/fake-clock.js";
import { Opened } from "../support/opened.js";
import { type ConnectorCall, working } from "../support/scripted-gateway.js";
import { OK, serve } from "./parties.js";

const opened = new Opened();
afterEach(opened.close);

const INFO = { name: "cases", version: "1.0.0" };

const tool = (name: string) => ({ name, inputSchema: { type: "object" }, run: () => OK });

/** A legacy server that can speak by itself, and a client for it. */
async function legacy(options: LegacyServerOptions) {
  const feed = new EventFeed();
  const answer = likeLegacyServer(options);
  const server = await serve((request) => (request.verb === "GET" ? answerFeed(feed) : answer(request)));
  const client = await connect({ endpoint: server.url, clientInfo: { name: "cases", version: "1" } });
  opened.push(client);
  const count = (method: string): number => server.requests.filter((request) => request.method === method).length;
  return { client: client satisfies RemoteMcpClient, count, feed };
}

describe("aggregators", () => {
  it("MB-141: one dead or slow server delays everything", async () => {
    const party = await DirectoryParty.start(opened, ["a", "b", "c", "refused", "silent"], { listBudgetMs: 150 });
    const held: ConnectorCall[] = [];
    party.gateway.script("silent", (call) => held.push(call));
    party.gateway.script("refused", ({ response }) => response.destroy());
    await party.call("a_echo");
    const { told } = party.listen();
    const startedAt = performance.now();
    const listed = await party.list();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(listed.names).toEqual(["a_echo", "b_echo", "c_echo"]);
    expect(listed.omitted).toEqual({ refused: "connection_broken", silent: "timeout" });
    held[0]?.result(toolsText("late"));
    await expect.poll(() => told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect((await party.list()).names).toContain("silent_late");
  });

  it("MB-143: a server that connects after the common deadline is never registered", async () => {
    const clock = new FakeClock();
    const party = await DirectoryParty.start(opened, ["a", "slow"], { clock, listBudgetMs: 5_000 });
    const held: ConnectorCall[] = [];
    party.gateway.script("slow", (call) => held.push(call));
    const { told } = party.listen();
    await clock.advance(100);
    /** Lists, and has the slow one answer after so long. */
    const listIn = async (ms: number) => {
      const count = held.length + 1;
      const listing = party.list();
      // Nothing but the slow one is waited for.
      await expect.poll(() => [held.length, clock.pending], { interval: 5 }).toEqual([count, 1]);
      await clock.advance(ms);
      const call = held.at(-1);
      if (call !== undefined) working(call);
      return listing;
    };
    expect((await listIn(7_000)).omitted).toEqual({ slow: "timeout" });
    await expect.poll(() => clock.advance(20).then(() => told), { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect((await party.list()).names).toEqual(["a_echo", "slow_echo"]);
    // Its own limit from then on, and not that of all.
    expect((await listIn(7_000)).names).toEqual(["a_echo", "slow_echo"]);
    expect(party.count("tools/list", "slow")).toBe(2);
  });

  it("MB-145: the tools of a server that is down vanish, though a reconnect would do", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    party.traits.set("a", OF_DEVICE);
    await party.listed();
    await party.withdraw("a");
    party.missing = [{ connectorKey: "a", state: "offline", nextAttemptAt: undefined }];
    expect(await party.list()).toEqual({ names: ["a_echo"], omitted: {}, stale: { a: "offline" } });
    const calls = Promise.all([party.call("a_echo"), party.call("a_echo", "{}", bindingOf("other"))]);
    await expect.poll(() => party.woken, { interval: 5 }).toEqual(["a", "a"]);
    await party.publish("a");
    await calls;
    expect([party.count("tools/call"), (await party.list()).stale]).toEqual([2, {}]);
  });

  it("MB-146: a definition is changed, and the tools of the one before stay published", async () => {
    const party = await DirectoryParty.start(opened, ["s"]);
    party.traits.set("s", OF_DEVICE);
    await party.listed();
    const held: ConnectorCall[] = [];
    party.gateway.script("s", (call) => held.push(call));
    // The list of before is being read while the definition is changed.
    party.directory.outdate("s");
    await expect.poll(() => held.length, { interval: 5 }).toBe(1);
    await party.publish("s", { releaseDigest: "another" });
    expect((await party.list()).names).toEqual([]);
    await expect.poll(() => held.length, { interval: 5 }).toBe(2);
    held[1]?.result(toolsText("new"));
    await expect.poll(() => party.list().then(({ names }) => names), { interval: 5 }).toEqual(["s_new"]);
    held[0]?.result(toolsText("old"));
    const calling = party.call("s_new");
    await expect.poll(() => held.length, { interval: 5 }).toBe(3);
    held[2]?.result("{}");
    await calling;
    expect((await party.list()).names).toEqual(["s_new"]);
  });

  it("MB-148: what a server asks in the midst of a call never reaches the agent, and the call hangs or fails", async () => {
    const asking = new AskingServer();
    const server = await serve(asking.streamable);
    const settings = { endpoint: server.url, protocol: "legacy" };
    const registrations = [{ slug: "s", displayName: "s", settings, capabilities: ["tools", "elicitation"] }];
    const host = await ConnectorHost.start({ hostInfo: INFO, registrations }, createMemoryStore());
    opened.push(host);
    const states = async () => (await host.status()).map(({ state }) => state);
    await expect.poll(states, { interval: 5 }).toEqual(["ready"]);
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
    const form = { method: "elicitation/create", params: { message: "Your name?", requestedSchema } };
    /** What the server is answered, and what it was told that it may ask where that call came. */
    const callAs = async (revision: string, capabilities: ClientCapabilities) => {
      const versionNegotiation = { mode: revision === "2026-07-28" ? { pin: revision } : ("legacy" as const) };
      const agent = new Client(INFO, { capabilities, versionNegotiation });
      if (capabilities.elicitation !== undefined) {
        agent.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }));
      }
      const { url, headers } = host.bind({ workspaceId: "w", agentSessionId: "s" });
      await agent.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      opened.push(agent);
      const { structuredContent } = await agent.callTool({ name: "s_asks", arguments: { asks: [form] } });
      const { answers, session } = Object(structuredContent);
      return { answers, introduced: asking.introduced[Number(String(session).slice(2)) - 1]?.["capabilities"] };
    };
    for (const revision of ["2026-07-28", "2025-11-25"]) {
      const heard = await callAs(revision, { elicitation: { form: {} } });
      expect(heard.answers).toEqual([{ result: { action: "accept", content: { name: "Ada" } } }]);
      expect(heard.introduced).toHaveProperty("elicitation");
      const startedAt = performance.now();
      const unheard = await callAs(revision, {});
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      expect(unheard.introduced).not.toHaveProperty("elicitation");
      // As the client of the server says it, and not once more around that.
      const error = { code: -32_601, message: expect.not.stringMatching(/error.*error/is) };
      expect(unheard.answers).toEqual([{ error: expect.objectContaining(error) }]);
    }
  });

  it("MB-150: each call initializes every server anew and lists it", async () => {
    const keys = ["a", "b", "c"];
    const party = await DirectoryParty.start(opened, keys);
    const servers = await Promise.all(keys.map(() => legacy({ tools: [tool("t")] })));
    for (const [index, key] of keys.entries()) {
      party.traits.set(key, OF_DEVICE);
      const client = servers[index]?.client;
      if (client !== undefined) await party.publish(key, { client });
    }
    await party.listed();
    await Promise.all(Array.from({ length: 48 }, (_, index) => party.call(`${keys[index % 3]}_t`)));
    expect(servers.map(({ count }) => [count("initialize"), count("tools/list"), count("tools/call")])).toEqual(
      keys.map(() => [1, 1, 16]),
    );
  });

  it("MB-156: that a list changed is ignored when the server did not declare that it would tell", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    const names = ["t"];
    const methods = {
      "tools/list": () => ({ tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) }),
    };
    const { client, count, feed } = await legacy({ capabilities: { tools: {} }, methods });
    party.traits.set("a", OF_DEVICE);
    await party.publish("a", { client });
    await party.listed();
    const { told } = party.listen();
    // It is listened to, and was asked once more for what it may have told before.
    await expect.poll(() => count("tools/list"), { interval: 5 }).toBe(2);
    names.push("u");
    feed.send(messageEvent(notificationMessage(TOOLS_CHANGED)));
    await expect.poll(() => told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
    // Whoever is told finds it in the list, and nobody is told twice.
    expect((await party.list()).names).toEqual(["a_t", "a_u"]);
    for (let index = 0; index < 50; index += 1) feed.send(messageEvent(notificationMessage(TOOLS_CHANGED)));
    await expect.poll(() => count("tools/list"), { interval: 5 }).toBeGreaterThan(3);
    await party.call("a_u").catch(() => undefined);
    expect(count("tools/list")).toBeLessThanOrEqual(5);
    expect(told).toEqual([TOOLS_CHANGED]);
  });
});
