import { afterEach, describe, expect, it } from "vitest";
import { ScriptedServer } from "../../../src/testing/index.js";
import { AskingServer } from "../../support/asking-server.js";
import type { ApprovalRequest, Approve } from "../../../src/connector-host/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import type { ConnectorCall } from "../../support/scripted-gateway.js";
import {
  APPROVING,
  askingHost,
  FormAgent,
  notSent,
  officialAgent,
  sent,
  vouched,
  restartableHost,
} from "./approval-parties.js";
import { agentOf, arrived, becomes, HostParties } from "./host-parties.js";
import { type Offer, offering } from "./permission-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const denied = (reason: string) => notSent("approval_denied", { connectorKey: "a", reason });
const refused = (reason: string) => notSent("continuation_refused", { reason });
const NOBODY = notSent("approval_required", { connectorKey: "a" });

describe("H-32: the host's hook", () => {
  it("H-32, H-31: approves and denies calls of both eras; a tool that asks is listed as before", async () => {
    const seen: ApprovalRequest[] = [];
    let decision: "approve" | "deny" = "approve";
    const approve: Approve = (request) => {
      seen.push(request);
      return Promise.resolve(decision);
    };
    const { gateway, host } = await askingHost(parties, { approve });
    const modern = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "modern" }), {});
    const person = (): object => expect.fail("nobody is asked over the agent");
    const legacy = await officialAgent(vouched(host, "legacy"), "2025-11-25", person);
    expect((await agentOf(host).list()).names).toEqual(["a_drop", "a_read"]);
    expect((await modern.call("a_drop", { arguments: { id: 7 } })).result).toBeDefined();
    expect(await legacy.callTool({ name: "a_drop" })).toMatchObject({ content: [{ type: "text" }] });
    expect(sent(gateway)).toBe(2);
    expect(seen[0]).toMatchObject({
      connectorKey: "a",
      toolName: '"drop"',
      toolTitle: '"Drop it"',
      argumentsText: '{"id":7}',
      agentSessionId: '"modern"',
      accountId: '"ada"',
    });
    decision = "deny";
    expect((await modern.call("a_drop")).verdict).toEqual(denied("denied"));
    await expect(legacy.callTool({ name: "a_drop" })).rejects.toMatchObject({
      data: { "sh.tutti/delivery": denied("denied") },
    });
    expect((await modern.call("a_read")).result).toBeDefined();
    expect([sent(gateway), seen.length]).toEqual([3, 4]);
  });

  it("H-32, H-14: what changed while it was asked counts, for better and worse", async () => {
    const waiting: (() => void)[] = [];
    const approve: Approve = () => new Promise((resolve) => waiting.push(() => resolve("approve")));
    const offer: Offer = { tools: { drop: {}, read: {} } };
    const { gateway, host } = await askingHost(parties, { approve }, offer);
    const { connectors } = host;
    const agent = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));
    const off = agent.call("a_drop");
    await arrived(waiting);
    await connectors.setPermission("a", "drop", "off");
    expect((await off).verdict).toEqual(denied("withdrawn"));
    await connectors.setPermission("a", "drop", "ask");
    const other = agent.call("a_drop");
    await arrived(waiting, 2);
    offer.tools = { drop: { description: "Drops more than it did" }, read: {} };
    waiting[1]?.();
    expect((await other).verdict).toEqual(denied("withdrawn"));
    const gone = agent.call("a_drop");
    await arrived(waiting, 3);
    offer.tools = { read: {} };
    waiting[2]?.();
    expect((await gone).verdict).toMatchObject({ code: "unknown_tool", delivery: "not_sent" });
    expect(sent(gateway)).toBe(0);
    offer.tools = { drop: {}, read: {} };
    const allowed = agent.call("a_drop");
    await arrived(waiting, 4);
    await connectors.setPermission("a", "drop", "allow");
    waiting[3]?.();
    expect((await allowed).result).toBeDefined();
    expect(sent(gateway)).toBe(1);
  });

  it("H-32: time, a sign-out and a disconnect deny", async () => {
    const clock = new FakeClock();
    const signals: AbortSignal[] = [];
    const approve: Approve = (_request, signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const { gateway, host } = await askingHost(parties, { approve, clock, contracts: "last_list" });
    const late = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "late" })).call("a_drop");
    await arrived(signals);
    clock.step(300_000);
    expect((await late).verdict).toEqual(denied("expired"));
    const leaving = new AbortController();
    const agent = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "left" }));
    const left = agent.call("a_drop", {}, leaving.signal).catch(() => "left");
    await arrived(signals, 2);
    leaving.abort();
    expect(await left).toBe("left");
    await expect.poll(() => signals[1]?.aborted).toBe(true);
    const durable = new FormAgent(await host.bindDurable({ name: "desk", accountId: "ada" }));
    const out = durable.call("a_drop");
    await arrived(signals, 3);
    host.signOut();
    expect((await out).verdict).toEqual(denied("withdrawn"));
    expect(sent(gateway)).toBe(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  it("H-40: closing the host denies what waits, before its routes go", async () => {
    const waiting: unknown[] = [];
    const approve: Approve = () => new Promise(() => waiting.push(0));
    const { gateway, host } = await askingHost(parties, { approve });
    const call = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "s" })).call("a_drop");
    await arrived(waiting);
    const closed = host.close();
    expect((await call).verdict).toEqual(denied("withdrawn"));
    await closed;
    expect(sent(gateway)).toBe(0);
  });
});

describe("H-32, H-33: an operator", () => {
  it("H-32: sees and decides what waits, and no agent is asked or decides", async () => {
    const { gateway, host } = await askingHost(parties, { operatorApprovals: true });
    const agent = new FormAgent(vouched(host));
    const [first, second] = [agent.call("a_drop"), agent.call("a_drop", { arguments: { id: 1 } })];
    const pending = () => host.approvals.pending();
    await expect.poll(() => pending().length).toBe(2);
    expect(host.agents).toMatchObject({ pendingApprovals: 2 });
    const byArguments = (text: string): string => pending().find((one) => one.argumentsText === text)?.id ?? "";
    expect(host.approvals.decide(byArguments("{}"), "deny")).toBe(true);
    expect((await first).verdict).toEqual(denied("denied"));
    expect(host.approvals.decide(byArguments('{"id":1}'), "approve")).toBe(true);
    expect((await second).result).toBeDefined();
    expect([sent(gateway), pending()]).toEqual([1, []]);
    const given = { inputResponses: { approval: APPROVING } };
    expect((await agent.call("a_drop", given)).verdict).toEqual(refused("unknown"));
  });
});

describe("H-32: a vouched agent", () => {
  it.each(["2026-07-28", "2025-11-25", "2025-06-18"])("H-32: has a person asked: %s", async (revision) => {
    const { gateway, host } = await askingHost(parties);
    const asked: string[] = [];
    let answer: object = APPROVING;
    const client = await officialAgent(vouched(host), revision, (message) => {
      asked.push(message);
      return answer;
    });
    const call = (id: number) => client.callTool({ name: "a_drop", arguments: { id } });
    expect(await call(1)).toMatchObject({ content: [{ type: "text" }] });
    expect(asked).toEqual([expect.stringContaining('Tool: "drop", titled "Drop it"\nArguments: {"id":1}')]);
    for (const no of [
      { action: "accept", content: { decision: "deny" } },
      { action: "decline" },
      { action: "cancel" },
    ]) {
      answer = no;
      await expect(call(2)).rejects.toMatchObject({ data: { "sh.tutti/delivery": denied("denied") } });
    }
    expect(sent(gateway)).toBe(1);
    expect(host.agents).toMatchObject({ pendingApprovals: 0 });
  });

  it("H-32: is one by name, too, over restarts", async () => {
    const { host } = await askingHost(parties);
    const durable = await host.bindDurable({ name: "desk", accountId: "ada", approvals: "agent" });
    expect(host.durableBindings()).toEqual([{ name: "desk", accountId: "ada", approvals: "agent" }]);
    const agent = new FormAgent(durable);
    expect((await agent.goOn("a_drop", await agent.asked("a_drop"))).result).toBeDefined();
    const other = new FormAgent(await host.bindDurable({ name: "desk", accountId: "ada" }));
    expect((await other.call("a_drop")).verdict).toEqual(NOBODY);
  });

  it("H-32, H-27: an approval covers the call's later rounds, and a server can't ask for more by it", async () => {
    const asks = (state: string) =>
      JSON.stringify({
        resultType: "input_required",
        requestState: state,
        inputRequests: { name: { method: "elicitation/create", params: { message: "Who?", requestedSchema: {} } } },
      });
    const calls: ConnectorCall[] = [];
    const gateway = await parties.gateway();
    offering(gateway, "a", { tools: { drop: {} }, held: calls });
    const settings = { endpoint: `${gateway.url}/v1/connectors/a/mcp`, protocol: "modern" };
    const rules = { permissions: { drop: "ask" }, capabilities: ["tools", "elicitation"] };
    const { host } = await parties.host(gateway, [], {
      registrations: [{ slug: "a", displayName: "A", settings, ...rules }],
    });
    await becomes(host, { a: "ready" });
    const agent = new FormAgent(vouched(host));
    const answering = async (answer: (call: ConnectorCall) => void, made: ReturnType<FormAgent["call"]>) => {
      const count = calls.length;
      await arrived(calls, count + 1);
      const call = calls[count];
      if (call !== undefined) answer(call);
      return made;
    };
    const state = await agent.asked("a_drop");
    const first = await answering((call) => call.result(asks("theirs-1")), agent.goOn("a_drop", state));
    const second = String(first.result?.["requestState"]);
    expect(first.result).toMatchObject({ inputRequests: { name: { method: "elicitation/create" } } });
    expect(second).not.toContain("theirs-1");
    const named = { inputResponses: { name: { action: "accept", content: {} } }, requestState: second };
    expect((await agent.call("a_drop", { ...named, arguments: { id: 2 } })).verdict).toEqual(refused("mismatch"));
    const last = await answering(
      (call) => call.result('{"resultType":"complete","content":[]}'),
      agent.call("a_drop", named),
    );
    expect(last.result).toBeDefined();
    expect(calls[0]?.params).not.toHaveProperty("inputResponses");
    expect(calls[0]?.params).not.toHaveProperty("requestState");
    expect(calls[1]?.params).toMatchObject({ inputResponses: named.inputResponses, requestState: "theirs-1" });
    expect((await agent.call("a_drop", named)).verdict).toEqual(refused("used"));
    expect(calls).toHaveLength(2);
  });

  it("H-14: what was asked goes on when it needs no approval any more, unless it was denied", async () => {
    const { gateway, host } = await askingHost(parties);
    const agent = new FormAgent(vouched(host));
    const [denying, approving] = [await agent.asked("a_drop"), await agent.asked("a_drop")];
    await host.connectors.setPermission("a", "drop", "allow");
    expect((await agent.goOn("a_drop", denying, {}, { action: "decline" })).verdict).toEqual(denied("denied"));
    expect((await agent.goOn("a_drop", approving)).result).toBeDefined();
    expect(gateway.calls.at(-1)?.params).not.toHaveProperty("requestState");
    expect(sent(gateway)).toBe(1);
  });
});

describe("H-32, H-33: an agent can't approve itself", () => {
  it("H-32: one that nobody vouches for is not asked, whatever it says", async () => {
    const { gateway, host } = await askingHost(parties);
    const asker = new FormAgent(vouched(host, "vouched"));
    const state = await asker.asked("a_drop");
    for (const approvals of [undefined, "host", true]) {
      const agent = new FormAgent(host.bind(Object({ workspaceId: "w", agentSessionId: "s", approvals })));
      expect((await agent.call("a_drop")).verdict).toEqual(NOBODY);
      expect((await agent.goOn("a_drop", state)).verdict).toEqual(NOBODY);
    }
    const client = await officialAgent(host.bind({ workspaceId: "w", agentSessionId: "l" }), "2025-11-25", () =>
      expect.fail("it was asked"),
    );
    await expect(client.callTool({ name: "a_drop" })).rejects.toMatchObject({ data: { "sh.tutti/delivery": NOBODY } });
    expect(sent(gateway)).toBe(0);
  });

  it("H-33: not by an answer to nothing, by _meta, or by what it does not declare", async () => {
    const { gateway, host } = await askingHost(parties);
    const agent = new FormAgent(vouched(host));
    const responses = { inputResponses: { approval: APPROVING } };
    const tries: [object, object][] = [
      [responses, refused("unknown")],
      [{ ...responses, requestState: "" }, refused("unknown")],
      [{ ...responses, requestState: "remote-connector.1.x.y.approval.z.AAAA" }, refused("unknown")],
      [{ requestState: "approved" }, refused("unknown")],
    ];
    for (const [members, verdict] of tries) {
      const { result, verdict: got } = await agent.call("a_drop", members);
      expect([result, got]).toEqual([undefined, verdict]);
    }
    const meta = { "sh.tutti/approved": true, "sh.tutti/approval": APPROVING, approval: "approve" };
    expect((await agent.call("a_drop", {}, undefined, meta)).result).toMatchObject({ resultType: "input_required" });
    const bare = new FormAgent(vouched(host, "bare"), {});
    expect((await bare.call("a_drop")).verdict).toEqual(NOBODY);
    expect(sent(gateway)).toBe(0);
  });

  it("H-32: not twice, not for other arguments or another tool, and not for another agent", async () => {
    const { gateway, host } = await askingHost(parties);
    await host.connectors.setPermission("a", "read", "ask");
    const agent = new FormAgent(vouched(host));
    const other = new FormAgent(vouched(host, "other"));
    const id = { arguments: { id: 1 } };
    const state = await agent.asked("a_drop", id);
    expect((await agent.goOn("a_drop", state, { arguments: { id: 2 } })).verdict).toEqual(refused("mismatch"));
    expect((await agent.goOn("a_read", state, id)).verdict).toEqual(refused("mismatch"));
    expect((await other.goOn("a_drop", state, id)).verdict).toEqual(refused("mismatch"));
    expect(sent(gateway)).toBe(0);
    const both = await Promise.all([agent.goOn("a_drop", state, id), agent.goOn("a_drop", state, id)]);
    expect(both.map(({ verdict }) => verdict)).toEqual(expect.arrayContaining([undefined, refused("used")]));
    expect((await agent.goOn("a_drop", state, id)).verdict).toEqual(refused("used"));
    expect(sent(gateway)).toBe(1);
  });

  it("H-32: not after a sign-out, and not with what its session was asked under another bearer", async () => {
    const { gateway, host } = await askingHost(parties);
    const first = new FormAgent(vouched(host));
    const states = [await first.asked("a_drop"), await first.asked("a_drop")];
    const again = new FormAgent(vouched(host));
    expect((await again.goOn("a_drop", states[0] ?? "")).verdict).toEqual(refused("mismatch"));
    const durable = new FormAgent(await host.bindDurable({ name: "d", accountId: "ada", approvals: "agent" }));
    const before = await durable.asked("a_drop");
    host.signOut();
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    expect((await durable.goOn("a_drop", before)).verdict).toEqual(refused("mismatch"));
    expect((await durable.goOn("a_drop", await durable.asked("a_drop"))).result).toBeDefined();
    expect(sent(gateway)).toBe(1);
  });

  it("H-33, H-27: a state of a call that needed none opens no other", async () => {
    const asks = JSON.stringify({ resultType: "input_required", requestState: "theirs", inputRequests: {} });
    const calls: ConnectorCall[] = [];
    const { host } = await askingHost(parties, {}, { tools: { drop: {}, read: {} }, held: calls });
    const agent = new FormAgent(vouched(host));
    const reading = agent.call("a_read");
    await arrived(calls);
    calls[0]?.result(asks);
    expect((await reading).result).toMatchObject({ requestState: "theirs" });
    expect((await agent.goOn("a_drop", "theirs")).verdict).toEqual(refused("unknown"));
    // It was allowed when it was begun, and asks since.
    await host.connectors.setPermission("a", "read", "ask");
    expect((await agent.goOn("a_read", "theirs")).verdict).toEqual(refused("unknown"));
    // One of a call that asks opens none that does not.
    const state = await agent.asked("a_drop");
    await host.connectors.setPermission("a", "read", "allow");
    expect((await agent.goOn("a_read", state)).verdict).toEqual(refused("mismatch"));
    expect(calls).toHaveLength(1);
  });

  it("H-32, H-16: can't fill the host with questions", async () => {
    const { host } = await askingHost(parties, { maxPendingApprovals: 2 });
    const agent = new FormAgent(vouched(host));
    await agent.asked("a_drop");
    await agent.asked("a_drop");
    const full = notSent("limit_exceeded", { option: "maxPendingApprovals", limit: 2 });
    expect((await agent.call("a_drop")).verdict).toEqual(full);
    expect(host.agents).toMatchObject({ pendingApprovals: 2 });
    // With its bearer go its questions.
    const again = new FormAgent(vouched(host));
    expect(host.agents).toMatchObject({ pendingApprovals: 0 });
    await again.asked("a_drop");
  });
});

describe("H-27, H-32: calls that wait at their servers", () => {
  const ASKS = {
    arguments: { asks: [{ method: "elicitation/create", params: { message: "Who?", requestedSchema: {} } }] },
  };

  /** Two servers that ask in the midst of a call: that of `a` needs no approval, that of `b` one for each. */
  async function twoServers() {
    const servers = { a: new AskingServer(), b: new AskingServer() };
    const registrations: object[] = [];
    for (const [slug, permission] of [["a", "allow"] as const, ["b", "ask"] as const]) {
      const server = await ScriptedServer.start(servers[slug].streamable);
      parties.opened.push(server);
      const rules = { permissions: { asks: permission }, capabilities: ["tools", "elicitation"] };
      registrations.push({ slug, displayName: slug, settings: { endpoint: server.url, protocol: "legacy" }, ...rules });
    }
    const { host } = await parties.host(await parties.gateway(), [], { registrations });
    await becomes(host, { a: "ready", b: "ready" });
    return { host, servers, agent: new FormAgent(vouched(host)) };
  }

  it("H-33: one that was allowed is no way into one that needs an approval", async () => {
    const { host, servers, agent } = await twoServers();
    const held = await agent.asked("a_asks", ASKS);
    const mismatch = { delivery: "unknown", code: "continuation_refused", reason: "mismatch" };
    expect((await agent.goOn("b_asks", held, ASKS)).verdict).toEqual(mismatch);
    expect((await agent.goOn("b_asks", held)).verdict).toEqual(mismatch);
    await host.connectors.setPermission("a", "asks", "ask");
    expect((await agent.goOn("a_asks", held)).verdict).toEqual(mismatch);
    expect((await new FormAgent(vouched(host, "other")).goOn("a_asks", held, ASKS)).verdict).toEqual(mismatch);
    expect([servers.a.calls.length, servers.b.calls.length]).toEqual([1, 0]);
    // It was decided on when it was made.
    const { result } = await agent.call("a_asks", {
      ...ASKS,
      requestState: held,
      inputResponses: { "1": { action: "cancel" } },
    });
    expect(result).toMatchObject({ resultType: "input_required" });
    await host.connectors.setPermission("a", "asks", "off");
    expect((await agent.goOn("a_asks", String(result?.["requestState"]), ASKS)).verdict).toMatchObject({
      code: "not_permitted",
    });
    expect(servers.a.calls).toHaveLength(1);
  });

  it("H-32: one that was approved goes on with its own state, and needs no second approval", async () => {
    const { servers, agent } = await twoServers();
    const state = await agent.asked("b_asks", ASKS);
    expect(servers.b.calls).toEqual([]);
    const held = (await agent.goOn("b_asks", state, ASKS)).result;
    const [key = ""] = Object.keys(Object(held?.["inputRequests"]));
    expect(held).toMatchObject({ inputRequests: { [key]: { params: { message: "Who?" } } } });
    const requestState = String(held?.["requestState"]);
    const answer = { action: "accept", content: { name: "Ada" } };
    const { result } = await agent.call("b_asks", { ...ASKS, requestState, inputResponses: { [key]: answer } });
    expect(result).toMatchObject({ structuredContent: { answers: [{ result: answer }] } });
    expect((await agent.goOn("b_asks", state, ASKS)).verdict).toEqual(refused("used"));
    expect(servers.b.calls).toHaveLength(1);
  });
});

it("H-32, H-27: after a restart what was asked was not sent, and is not asked again by itself", async () => {
  const { gateway, start } = await restartableHost(parties);
  const first = await start();
  const { headers } = await first.bindDurable({ name: "desk", accountId: "ada", approvals: "agent" });
  const state = await new FormAgent({ url: first.url, headers }).asked("a_drop");
  await first.close();
  const second = await start();
  const agent = new FormAgent({ url: second.url, headers });
  expect((await agent.goOn("a_drop", state)).verdict).toEqual(refused("restarted"));
  // Vouched for by its name, as before.
  expect((await agent.goOn("a_drop", await agent.asked("a_drop"))).result).toBeDefined();
  expect(sent(gateway)).toBe(1);
});
