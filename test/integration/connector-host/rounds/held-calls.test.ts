import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import type { ConnectorHost } from "../../../../src/connector-host/index.js";
import { openSqliteJournalRows, openSqliteStore } from "../../../../src/store/index.js";
import { type Asked, FormAgent, officialAgent } from "./asked-agents.js";
import { AskingParties, saidIn } from "./asking-parties.js";

const parties = new AskingParties();
afterEach(parties.opened.close);

const BOB = { arguments: { whom: "Bob" } };

function agentOf(host: ConnectorHost, agentSessionId = "s"): FormAgent {
  return new FormAgent(host.bind({ workspaceId: "w", agentSessionId }));
}

/** What the host says of a request that goes on with nothing. */
function refused(reason: string, delivery = "unknown"): object {
  return { "sh.tutti/delivery": { code: "continuation_refused", delivery, reason } };
}

async function eventually(read: () => unknown, expected: unknown): Promise<void> {
  await expect.poll(read, { timeout: 5_000, interval: 5 }).toEqual(expected);
}

describe("calls that are held at a legacy server", () => {
  test("H-27: neither another agent, nor other arguments, another tool or a second time go on with a state", async () => {
    const { host, upstreams } = await parties.asking();
    const agent = agentOf(host);
    const asked = await agent.asked("legacy_greet", BOB);
    const thief = agentOf(host, "thief");
    const attacks: [FormAgent, string, object][] = [
      [thief, "legacy_greet", { ...BOB, ...asked }],
      [agent, "legacy_greet", { arguments: { whom: "Eve" }, ...asked }],
      [agent, "legacy_greet", asked],
      [agent, "legacy_many", { ...BOB, ...asked }],
      // A server of the other era is given no state of the host either.
      [agent, "modern_greet", { ...BOB, ...asked }],
    ];
    for (const [who, name, members] of attacks) {
      expect(await who.call(name, members)).toMatchObject(refused("mismatch"));
    }
    expect([upstreams.runs, upstreams.cancelled, host.agents?.heldCalls]).toEqual([{ greet: 1 }, [], 1]);
    const [first, second] = await Promise.all([1, 2].map(() => agent.call("legacy_greet", { ...BOB, ...asked })));
    const [won, lost] = saidIn(first) === undefined ? [second, first] : [first, second];
    expect(saidIn(won)).toEqual(["greeted", "Bob", { action: "accept", content: { name: "Ada" } }]);
    expect(lost).toMatchObject(refused("used"));
    expect(await agent.call("legacy_greet", { ...BOB, ...asked })).toMatchObject(refused("used"));
    expect([upstreams.runs, host.agents?.heldCalls]).toEqual([{ greet: 1 }, 0]);
  });

  test("H-27: a changed state, and one of a server, are never a first call of a legacy server", async () => {
    const { host, upstreams } = await parties.asking();
    const agent = agentOf(host);
    const asked = await agent.asked("legacy_greet", BOB);
    const { requestState: state } = asked;
    const changed = `${state.slice(0, -8)}${state.slice(-8) === "AAAAAAAA" ? "BBBBBBBB" : "AAAAAAAA"}`;
    expect(await agent.call("legacy_greet", { ...BOB, ...asked, requestState: changed })).toMatchObject(
      refused("unknown"),
    );
    for (const members of [{ requestState: "" }, { requestState: "a server's" }, { inputResponses: {} }]) {
      expect(await agent.call("legacy_greet", { ...BOB, ...members })).toMatchObject(refused("unknown", "not_sent"));
    }
    expect(upstreams.runs).toEqual({ greet: 1 });
  });

  test("H-27, H-20: binding the session again ends what waits for it, and its state is nothing to the new one", async () => {
    const { host, upstreams } = await parties.asking();
    const asked = await agentOf(host).asked("legacy_greet", BOB);
    const other = await agentOf(host, "other").asked("legacy_greet", { arguments: { whom: "Carl" } });
    const again = agentOf(host);
    await eventually(() => upstreams.cancelled, ["Bob"]);
    const answer = await again.call("legacy_greet", { ...BOB, ...asked });
    expect(answer).toMatchObject({
      "sh.tutti/delivery": { code: "continuation_refused", delivery: "unknown" },
    });
    expect(other.requestState).not.toBe(asked.requestState);
    expect([upstreams.runs, host.agents?.heldCalls]).toEqual([{ greet: 2 }, 1]);
  });

  test("H-27: after a restart on the same store a held call is unknown, and is not made again", async () => {
    const folder = await parties.folder();
    const first = await parties.asking({}, { store: await openSqliteStore({ directory: folder }) });
    const asked = await agentOf(first.host).asked("legacy_greet", BOB);
    await first.host.close();
    await eventually(() => first.upstreams.cancelled, ["Bob"]);
    const { upstreams } = first;
    const second = await parties.asking({}, { upstreams, store: await openSqliteStore({ directory: folder }) });
    for (const name of ["legacy_greet", "modern_greet"]) {
      expect(await agentOf(second.host).call(name, { ...BOB, ...asked })).toMatchObject(refused("restarted"));
    }
    // Also while its connector is not there, or is no more.
    await second.host.connectors.setEnabled("legacy", false);
    expect(await agentOf(second.host).call("legacy_greet", { ...BOB, ...asked })).toMatchObject(refused("restarted"));
    expect(upstreams.runs).toEqual({ greet: 1 });
  });

  test("H-27: prompts are held, and gone on with, as calls are; one that can't be found any more is unknown", async () => {
    const { host, upstreams } = await parties.asking();
    const agent = agentOf(host);
    const first = await agent.asked("legacy_ask", {}, "prompts/get");
    expect(host.agents?.heldCalls).toBe(1);
    expect(await agent.call("legacy_ask", first, undefined, "prompts/get")).toMatchObject({ messages: [{}] });
    const second = await agent.asked("legacy_ask", {}, "prompts/get");
    await host.connectors.setEnabled("legacy", false);
    expect(await agent.call("legacy_ask", second, undefined, "prompts/get")).toMatchObject({
      "sh.tutti/delivery": { code: "unknown_prompt", delivery: "unknown" },
    });
    expect(await agent.call("legacy_ask", {}, undefined, "prompts/get")).toMatchObject({
      "sh.tutti/delivery": { code: "unknown_prompt", delivery: "not_sent" },
    });
    expect(upstreams.runs).toEqual({});
  });

  test("H-27: an agent that does not go on in time has its call cancelled at the server", async () => {
    const { host, upstreams } = await parties.asking({ heldCallTimeoutMs: 150 });
    const agent = agentOf(host);
    const asked = await agent.asked("legacy_greet", BOB);
    await eventually(() => upstreams.cancelled, ["Bob"]);
    expect(host.agents?.heldCalls).toBe(0);
    expect(await agent.call("legacy_greet", { ...BOB, ...asked })).toMatchObject(refused("expired"));
  });

  test("H-27: an agent that leaves once it went on has its call cancelled at the server", async () => {
    const { host, upstreams } = await parties.asking();
    const agent = agentOf(host);
    const asked = await agent.asked("legacy_linger", BOB);
    const leaving = new AbortController();
    const again = agent.call("legacy_linger", { ...BOB, ...asked }, leaving.signal);
    await eventually(() => upstreams.lingering, ["Bob"]);
    expect(upstreams.cancelled).toEqual([]);
    leaving.abort();
    await expect(again).rejects.toThrow();
    await eventually(() => upstreams.cancelled, ["Bob"]);
    expect(await agent.call("legacy_linger", { ...BOB, ...asked })).toMatchObject(refused("used"));
    expect([upstreams.runs, host.agents?.heldCalls]).toEqual([{ linger: 1 }, 0]);
  });

  test("H-27: the time that the agent is asked is not that of the server", async () => {
    const { host } = await parties.asking({}, { deadlines: { idleTimeoutMs: 600 } });
    const agent = agentOf(host);
    const asked = await agent.asked("legacy_greet", BOB);
    await pause(900);
    expect(saidIn(await agent.call("legacy_greet", { ...BOB, ...asked }))).toMatchObject(["greeted", "Bob", {}]);
  });

  test("H-32, H-27: a call that needs an approval is asked for that first; what it is asked later needs none", async () => {
    const { host, upstreams } = await parties.asking();
    await host.connectors.setPermission("legacy", "greet", "ask");
    const agent = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "s", approvals: "agent" }));
    const { requestState } = await agent.asked("legacy_greet", BOB);
    expect(upstreams.runs).toEqual({});
    const inputResponses = { approval: { action: "accept", content: { decision: "approve" } } };
    const asked = await agent.asked("legacy_greet", { ...BOB, requestState, inputResponses });
    expect([upstreams.runs, host.agents?.heldCalls]).toEqual([{ greet: 1 }, 1]);
    // What was approved was this call, and what is held is, too.
    expect(await agent.call("legacy_greet", { arguments: { whom: "Eve" }, ...asked })).toMatchObject(
      refused("mismatch"),
    );
    expect(saidIn(await agent.call("legacy_greet", { ...BOB, ...asked }))).toMatchObject(["greeted", "Bob", {}]);
    expect(upstreams.runs).toEqual({ greet: 1 });
  });

  test("H-16, H-27: no more calls of one agent are held than the host allows, and none of them is lost", async () => {
    const { host, upstreams } = await parties.asking({ maxHeldCallsPerBinding: 2 });
    const agent = agentOf(host);
    const asked: [string, Asked][] = [];
    for (const whom of ["a", "b"]) asked.push([whom, await agent.asked("legacy_greet", { arguments: { whom } })]);
    expect(await agent.call("legacy_greet", { arguments: { whom: "c" } })).toMatchObject({
      "sh.tutti/delivery": { code: "limit_exceeded", delivery: "not_sent", option: "maxHeldCallsPerBinding" },
    });
    expect([upstreams.runs, host.agents?.heldCalls]).toEqual([{ greet: 2 }, 2]);
    for (const [whom, continuation] of asked) {
      const result = await agent.call("legacy_greet", { arguments: { whom }, ...continuation });
      expect(saidIn(result)).toMatchObject(["greeted", whom, { action: "accept" }]);
    }
    expect(host.agents?.heldCalls).toBe(0);
  });

  test("H-16, H-27: how many connections ask at a time, and how many calls wait for one, the host says", async () => {
    await expect(parties.asking({ maxLeasedConnections: 0 })).rejects.toMatchObject({ code: "invalid_options" });
    const { host } = await parties.asking({ maxLeasedConnections: 1, maxWaitingLeases: 0 });
    await agentOf(host).asked("legacy_greet", BOB);
    expect(await agentOf(host, "other").call("legacy_greet", BOB)).toMatchObject({
      "sh.tutti/delivery": { code: "limit_exceeded", delivery: "not_sent", option: "maxWaitingLeases" },
    });
  });

  test("H-31, H-27: a tool that was switched off meanwhile is not gone on with; switching its connector off ends the call", async () => {
    const { host, upstreams } = await parties.asking();
    const agent = agentOf(host);
    const asked = await agent.asked("legacy_greet", BOB);
    await host.connectors.setPermission("legacy", "greet", "off");
    expect(await agent.call("legacy_greet", { ...BOB, ...asked })).toMatchObject({
      "sh.tutti/delivery": { code: "not_permitted", delivery: "unknown" },
    });
    // A call that begins is another matter.
    expect(await agent.call("legacy_greet", BOB)).toMatchObject({
      "sh.tutti/delivery": { code: "not_permitted", delivery: "not_sent" },
    });
    expect(upstreams.cancelled).toEqual([]);
    await host.connectors.setEnabled("legacy", false);
    await eventually(() => upstreams.cancelled, ["Bob"]);
    expect(await agent.call("legacy_greet", { ...BOB, ...asked })).toMatchObject({
      "sh.tutti/delivery": { delivery: "unknown" },
    });
  });

  test("H-40, H-35: closing ends what is held and what is being asked, in time: agents are answered, and the journal says unknown", async () => {
    const directory = await parties.folder();
    const { host, upstreams } = await parties.asking({ journalRows: await openSqliteJournalRows({ directory }) });
    await agentOf(host).asked("legacy_greet", BOB);
    const slow = { shown: [], answer: () => new Promise<never>(() => undefined) };
    const bearer = host.bind({ workspaceId: "w", agentSessionId: "legacy" });
    const client = await officialAgent(bearer, "2025-11-25", slow);
    const calling = client.callTool({ name: "legacy_greet", arguments: { whom: "Carl" } });
    const ended = expect(calling).rejects.toMatchObject({
      data: { "sh.tutti/delivery": { code: "cancelled", delivery: "unknown" } },
    });
    await eventually(() => slow.shown, ["Who is Carl?"]);
    const beganAt = performance.now();
    await host.close();
    await ended;
    await eventually(() => upstreams.cancelled.toSorted(), ["Bob", "Carl"]);
    expect(performance.now() - beganAt).toBeLessThan(5_000);
    const rows = await openSqliteJournalRows({ directory });
    const told = rows.page(undefined, 10).map(({ nativeName, end }) => [nativeName, end?.verdict]);
    await rows.close();
    expect(told).toEqual([
      ["greet", "unknown"],
      ["greet", "unknown"],
    ]);
  });
});
