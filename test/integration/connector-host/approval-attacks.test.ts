import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Approve, ConnectorHost } from "../../../src/connector-host/index.js";
import { FakeClock } from "../../support/fake-clock.js";
import type { ScriptedGateway } from "../../support/scripted-gateway.js";
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
import { arrived, becomes, HostParties } from "./host-parties.js";
import { type Offer, offering } from "./permission-parties.js";

const denied = (reason: string) => notSent("approval_denied", { connectorKey: "a", reason });
const refused = (reason: string) => notSent("continuation_refused", { reason });
const NOBODY = { "sh.tutti/delivery": notSent("approval_required", { connectorKey: "a" }) };
const ID = { arguments: { id: 1 } };
const nobody = (): object => expect.fail("a person was asked");

describe("H-32, H-33: an agent that is vouched for, and attacks", () => {
  const parties = new HostParties();
  let host: ConnectorHost;
  let party: ReturnType<typeof askingHost> | undefined;
  let gateway: ScriptedGateway;
  let offer: Offer;
  let agent: FormAgent;
  let before: number;
  let sessions = 0;

  afterAll(parties.opened.close);

  beforeEach(async () => {
    // One host for all of them: what an agent tries must not help or hinder the next.
    if (party === undefined) {
      offer = { tools: { drop: {} } };
      party = askingHost(parties, {}, offer);
    }
    ({ gateway, host } = await party);
    offer.tools = { drop: { title: "Drop it" }, read: {} };
    for (const tool of ["drop", "read"]) await host.connectors.setPermission("a", tool, "ask");
    agent = new FormAgent(vouched(host, `s-${String((sessions += 1))}`));
    before = sent(gateway);
  });

  const calls = () => sent(gateway) - before;

  it("H-33: can't accept what it was not asked", async () => {
    const inputResponses = { approval: APPROVING };
    expect((await agent.call("a_drop", { inputResponses })).verdict).toEqual(refused("unknown"));
    expect((await agent.call("a_drop", { inputResponses, requestState: "" })).verdict).toEqual(refused("unknown"));
    expect(calls()).toBe(0);
  });

  it("H-33: can't make up a state, nor change a bit of one", async () => {
    for (const state of ["approved", "remote-connector.1.x.y.approval.z.AAAA", '{"approved":true}', "\u0000"]) {
      expect((await agent.goOn("a_drop", state)).verdict).toEqual(refused("unknown"));
    }
    const state = await agent.asked("a_drop");
    const changed = [...new Set([0, 1, Math.floor(state.length / 2), state.length - 5, state.length - 1])];
    for (const at of changed) {
      const other = state[at] === "A" ? "B" : "A";
      const { result, verdict } = await agent.goOn("a_drop", state.slice(0, at) + other + state.slice(at + 1));
      expect([result, verdict]).toEqual([undefined, expect.objectContaining({ code: "continuation_refused" })]);
    }
    expect((await agent.goOn("a_drop", `${state}A`)).verdict).toMatchObject({ code: "continuation_refused" });
    expect(calls()).toBe(0);
    // And all that took nothing from the state that was given.
    expect((await agent.goOn("a_drop", state)).result).toBeDefined();
  });

  it.each(["2026-07-28", "2025-11-25"])("H-33: can't decide in its arguments or in _meta: %s", async (revision) => {
    const asked: string[] = [];
    const client = await officialAgent(vouched(host, `m-${revision}`), revision, (message) => {
      asked.push(message);
      return { action: "decline" };
    });
    const decided = { decision: "approve", approval: APPROVING, approved: true };
    const _meta = { "sh.tutti/approval": APPROVING, "sh.tutti/approved": true, decision: "approve" };
    await expect(client.callTool({ name: "a_drop", arguments: decided, _meta })).rejects.toMatchObject({
      data: { "sh.tutti/delivery": denied("denied") },
    });
    expect(asked).toEqual([expect.stringContaining(`Arguments: ${JSON.stringify(decided)}`)]);
    expect(calls()).toBe(0);
  });

  it("H-32: can't replay an approval", async () => {
    const state = await agent.asked("a_drop", ID);
    expect((await agent.goOn("a_drop", state, ID)).result).toBeDefined();
    for (let again = 0; again < 3; again += 1) {
      expect((await agent.goOn("a_drop", state, ID)).verdict).toEqual(refused("used"));
    }
    expect(calls()).toBe(1);
  });

  it("H-32: can't answer twice at once", async () => {
    const state = await agent.asked("a_drop", ID);
    const answers = await Promise.all(Array.from({ length: 6 }, () => agent.goOn("a_drop", state, ID)));
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1);
    const refusals = answers.filter(({ result }) => result === undefined).map(({ verdict }) => verdict);
    expect(refusals).toEqual(Array.from({ length: 5 }, () => refused("used")));
    expect(calls()).toBe(1);
  });

  it("H-32: can't have other arguments approved with it", async () => {
    const state = await agent.asked("a_drop", ID);
    for (const other of [{ id: 2 }, {}, { id: "1" }, { id: 1, all: true }]) {
      expect((await agent.goOn("a_drop", state, { arguments: other })).verdict).toEqual(refused("mismatch"));
    }
    expect((await agent.goOn("a_drop", state, { arguments: undefined })).verdict).toEqual(refused("mismatch"));
    expect(calls()).toBe(0);
  });

  it("H-32: can't have the same arguments in other bytes approved with it", async () => {
    const text = '{"id":1,"n":"a"}';
    const asked = await agent.callWith("a_drop", text);
    const state = String(asked.result?.["requestState"]);
    const others = [
      '{"id": 1,"n":"a"}',
      '{"n":"a","id":1}',
      '{"id":1.0,"n":"a"}',
      String.raw`{"id":1,"n":"\u0061"}`,
      '{"id":2,"id":1,"n":"a"}',
    ];
    for (const other of others) {
      expect((await agent.callWith("a_drop", other, state)).verdict).toEqual(refused("mismatch"));
    }
    expect(calls()).toBe(0);
    expect((await agent.callWith("a_drop", text, state)).result).toMatchObject({ content: [{ type: "text" }] });
  });

  it("H-32: can't call another tool by it", async () => {
    const state = await agent.asked("a_drop", ID);
    expect((await agent.goOn("a_read", state, ID)).verdict).toEqual(refused("mismatch"));
    expect(calls()).toBe(0);
  });

  it("H-31, H-32: can't call a tool that was switched off since, nor once it asks again", async () => {
    const state = await agent.asked("a_drop", ID);
    await host.connectors.setPermission("a", "drop", "off");
    const off = notSent("not_permitted", { connectorKey: "a" });
    expect((await agent.goOn("a_drop", state, ID)).verdict).toEqual(off);
    await host.connectors.setPermission("a", "drop", "ask");
    expect((await agent.goOn("a_drop", state, ID)).verdict).toEqual(denied("withdrawn"));
    expect(calls()).toBe(0);
  });

  it("H-32: can't call a tool whose definition is another since", async () => {
    for (const drop of [
      { description: "Drops everything" },
      { title: "Look" },
      { annotations: { readOnlyHint: true } },
    ]) {
      offer.tools = { drop: { title: "Drop it" }, read: {} };
      const state = await agent.asked("a_drop", ID);
      offer.tools = { drop, read: {} };
      expect((await agent.goOn("a_drop", state, ID)).verdict).toEqual(refused("mismatch"));
    }
    expect(calls()).toBe(0);
  });

  it("H-32: can't use another agent's state, nor answer another's question, nor take it away by trying", async () => {
    const other = new FormAgent(vouched(host, "other"));
    const state = await agent.asked("a_drop", ID);
    expect((await other.goOn("a_drop", state, ID)).verdict).toEqual(refused("mismatch"));
    const deny = { action: "accept", content: { decision: "deny" } };
    expect((await other.goOn("a_drop", state, ID, deny)).verdict).toEqual(refused("mismatch"));
    expect(calls()).toBe(0);
    expect((await agent.goOn("a_drop", state, ID)).result).toBeDefined();
  });

  it("H-32: an approval is spent by a call that was then not sent", async () => {
    const state = await agent.asked("a_drop", ID);
    // It is looked for again once it was approved, and is not what it was.
    let lists = 0;
    const changing = { ...offer };
    Object.defineProperty(changing, "tools", {
      get: () => ({ drop: (lists += 1) === 1 ? { title: "Drop it" } : { title: "Another" }, read: {} }),
    });
    offering(gateway, "a", changing);
    expect((await agent.goOn("a_drop", state, ID)).verdict).toEqual(denied("withdrawn"));
    offering(gateway, "a", offer);
    expect((await agent.goOn("a_drop", state, ID)).verdict).toEqual(refused("used"));
    expect(calls()).toBe(0);
  });

  it("H-32, H-16: can't have a ninth call wait, and others can", async () => {
    const states: string[] = [];
    for (let asked = 0; asked < 8; asked += 1) states.push(await agent.asked("a_drop", ID));
    const full = notSent("limit_exceeded", { option: "maxPendingApprovals", limit: 8 });
    expect((await agent.call("a_drop", ID)).verdict).toEqual(full);
    await new FormAgent(vouched(host, "ninth")).asked("a_drop", ID);
    expect((await agent.goOn("a_drop", states[0] ?? "", ID)).result).toBeDefined();
    await agent.asked("a_drop", ID);
    expect(calls()).toBe(1);
  });

  it("H-33: in a session, can't answer before it is asked, nor for another agent", async () => {
    const posting = async (client: Client, bound: { url: string; headers: object }, id: number | string) =>
      fetch(bound.url, {
        method: "POST",
        headers: {
          ...bound.headers,
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          "MCP-Protocol-Version": "2025-11-25",
          "Mcp-Session-Id": sessionOf(client),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id, result: APPROVING }),
      });
    const [mine, theirs] = [vouched(host, "early"), vouched(host, "beside")];
    const answers: (() => void)[] = [];
    const person = () => new Promise<object>((resolve) => answers.push(() => resolve({ action: "decline" })));
    const victim = await officialAgent(mine, "2025-11-25", person);
    const attacker = await officialAgent(theirs, "2025-11-25", nobody);
    const guesses = [0, 1, 2, 3, "0", "1", "2", "3"];
    for (const id of guesses) expect((await posting(victim, mine, id)).status).toBe(400);
    const call = victim.callTool({ name: "a_drop", ...ID });
    const outcome = call.then(
      () => "called",
      (error: unknown) => error,
    );
    await arrived(answers);
    for (const id of guesses) {
      expect((await posting(attacker, theirs, id)).status).toBe(400);
      // The session of the one with the bearer of the other.
      expect((await posting(victim, theirs, id)).status).toBe(404);
    }
    answers[0]?.();
    expect(await outcome).toMatchObject({ data: { "sh.tutti/delivery": denied("denied") } });
    expect(calls()).toBe(0);
  });

  it.each(["2026-07-28", "2025-11-25", "2025-06-18"])(
    "H-32: one that nobody vouched for is not asked, and approves nothing: %s",
    async (revision) => {
      const bound = host.bind({ workspaceId: "w", agentSessionId: `plain-${revision}` });
      const client = await officialAgent(bound, revision, nobody);
      await expect(client.callTool({ name: "a_drop" })).rejects.toMatchObject({ data: NOBODY });
      const state = await agent.asked("a_drop");
      const plain = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: `plain-${revision}` }));
      expect((await plain.goOn("a_drop", state)).verdict).toMatchObject({ code: "approval_required" });
      expect(calls()).toBe(0);
    },
  );
});

function sessionOf({ transport }: Client): string {
  const id: unknown = transport === undefined ? undefined : Reflect.get(transport, "sessionId");
  return typeof id === "string" ? id : expect.fail("there is no session");
}

describe("H-32, H-33: attacks that need a host of their own", () => {
  const parties = new HostParties();
  afterEach(parties.opened.close);

  it("H-32: what one connector was approved for does nothing at another with the same tool", async () => {
    const gateway = await parties.gateway({ a: 1, b: 1 });
    for (const key of ["a", "b"]) offering(gateway, key, { tools: { drop: {} } });
    const { host } = await parties.host(gateway, ["a", "b"], { newReleaseTools: "ask" });
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready" });
    const agent = new FormAgent(vouched(host));
    const state = await agent.asked("a_drop", ID);
    expect((await agent.goOn("b_drop", state, ID)).verdict).toEqual(refused("mismatch"));
    expect(sent(gateway)).toBe(0);
    expect((await agent.goOn("a_drop", state, ID)).result).toBeDefined();
  });

  it("H-32: a sign-out and a new sign-in of the same account leave no approval", async () => {
    const { gateway, host } = await askingHost(parties);
    const durable = new FormAgent(await host.bindDurable({ name: "d", accountId: "ada", approvals: "agent" }));
    const state = await durable.asked("a_drop", ID);
    host.signOut();
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    expect((await durable.goOn("a_drop", state, ID)).verdict).toEqual(refused("mismatch"));
    expect(sent(gateway)).toBe(0);
  });

  it("H-32: a sign-in or sign-out denies at once what waits for a durable binding, also at the device's connectors", async () => {
    const gateway = await parties.gateway({});
    offering(gateway, "a", { tools: { drop: {} } });
    const settings = { endpoint: `${gateway.url}/v1/connectors/a/mcp`, protocol: "modern" };
    const registrations = [{ slug: "a", displayName: "A", settings, permissions: { drop: "ask" } }];
    const { host } = await parties.host(gateway, [], { registrations, operatorApprovals: true });
    await becomes(host, { a: "ready" });
    const durable = new FormAgent(await host.bindDurable({ name: "d", accountId: "ada" }));
    for (const change of [() => void host.signIn("ada"), () => host.signOut()]) {
      const call = durable.call("a_drop", ID);
      await expect.poll(() => host.approvals.pending().length).toBe(1);
      change();
      expect(host.approvals.pending()).toEqual([]);
      expect((await call).verdict).toEqual(denied("withdrawn"));
    }
    expect(sent(gateway)).toBe(0);
  });

  it("H-32: a connector that goes takes with it what waits", async () => {
    const { gateway, host } = await askingHost(parties, { operatorApprovals: true });
    const call = new FormAgent(vouched(host)).call("a_drop", ID);
    await expect.poll(() => host.approvals.pending().length).toBe(1);
    const gone = host.connectors.uninstall("a");
    await expect.poll(() => host.approvals.pending().length).toBe(0);
    await gone;
    expect((await call).verdict).toEqual(denied("withdrawn"));
    expect(sent(gateway)).toBe(0);
  });

  it("H-32, H-27: a state of before a restart opens nothing", async () => {
    const { gateway, start } = await restartableHost(parties);
    const first = await start();
    const { headers } = await first.bindDurable({ name: "desk", accountId: "ada", approvals: "agent" });
    const state = await new FormAgent({ url: first.url, headers }).asked("a_drop", ID);
    await first.close();
    const { url } = await start();
    expect((await new FormAgent({ url, headers }).goOn("a_drop", state, ID)).verdict).toEqual(refused("restarted"));
    expect(sent(gateway)).toBe(0);
  });

  it("H-32: an operator decides once, and nothing that is over or was never asked", async () => {
    const { gateway, host } = await askingHost(parties, { operatorApprovals: true });
    const agent = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));
    const call = agent.call("a_drop", ID);
    await expect.poll(() => host.approvals.pending().length).toBe(1);
    const { id = "" } = host.approvals.pending()[0] ?? {};
    expect([host.approvals.decide(id, "deny"), host.approvals.decide(id, "approve")]).toEqual([true, false]);
    expect(host.approvals.decide("id-that-is-none", "approve")).toBe(false);
    expect((await call).verdict).toEqual(denied("denied"));
    expect(sent(gateway)).toBe(0);
  });

  const hooks: [string, Approve, string][] = [
    ["throws", () => expect.fail("a hook that fails"), "denied"],
    ["rejects", () => Promise.reject(new Error("no")), "denied"],
    ["says nothing", Object(() => undefined), "denied"],
    ["says true", Object(() => true), "denied"],
    ["says APPROVE", Object(() => "APPROVE"), "denied"],
    ["says an object that reads approve", Object(() => ({ toString: () => "approve" })), "denied"],
    ["says a list of approve", Object(() => Promise.resolve(["approve"])), "denied"],
    ["hangs", () => new Promise(() => undefined), "expired"],
  ];
  it("H-32: a hook that fails, hangs or says what is no decision denies, and the next call is asked anew", async () => {
    const clock = new FakeClock();
    let decide: Approve = () => "deny";
    let asked = 0;
    const approve: Approve = (request, signal) => {
      asked += 1;
      return decide(request, signal);
    };
    const { gateway, host } = await askingHost(parties, { approve, clock, contracts: "last_list" });
    const agent = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));
    for (const [index, [what, hook, reason]] of hooks.entries()) {
      decide = hook;
      const call = agent.call("a_drop", ID);
      await expect.poll(() => asked, { interval: 5 }).toBe(index + 1);
      if (reason === "expired") clock.step(300_000);
      expect([what, (await call).verdict]).toEqual([what, denied(reason)]);
    }
    expect([sent(gateway), host.agents?.pendingApprovals]).toEqual([0, 0]);
    decide = () => "approve";
    expect((await agent.call("a_drop", ID)).result).toBeDefined();
  });

  it("H-32: an answer at the limit is too late, and one before it is not", async () => {
    const clock = new FakeClock();
    const { gateway, host } = await askingHost(parties, { clock, contracts: "last_list" });
    const agent = new FormAgent(vouched(host));
    const [early, late] = [await agent.asked("a_drop", ID), await agent.asked("a_drop", ID)];
    clock.step(299_999);
    expect((await agent.goOn("a_drop", early, ID)).result).toBeDefined();
    clock.step(1);
    expect((await agent.goOn("a_drop", late, ID)).verdict).toEqual(denied("expired"));
    expect(sent(gateway)).toBe(1);
  });
});

it("H-32, H-14: what was approved in time, and then waited for its server, is not sent after the limit", async () => {
  const parties = new HostParties();
  const clock = new FakeClock();
  const waiting: (() => void)[] = [];
  const approve: Approve = () => new Promise((resolve) => waiting.push(() => resolve("approve")));
  let takesMs = 0;
  const offer: Offer = { tools: {} };
  Object.defineProperty(offer, "tools", {
    get: () => {
      clock.step(takesMs);
      return { drop: {}, read: {} };
    },
  });
  try {
    const { gateway, host } = await askingHost(parties, { approve, clock }, offer);
    const agent = new FormAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }));
    for (const [index, took] of [0, 1].entries()) {
      takesMs = 0;
      const call = agent.call("a_drop", ID);
      await arrived(waiting, index + 1);
      clock.step(299_999);
      takesMs = took;
      waiting[index]?.();
      const { result, verdict } = await call;
      if (took === 0) expect(result).toBeDefined();
      else expect(verdict).toEqual(notSent("not_admitted", { reason: "approval_expired" }));
    }
    expect(sent(gateway)).toBe(1);
  } finally {
    await parties.opened.close();
  }
});

describe("H-32: what servers and agents write into what people are shown", () => {
  const parties = new HostParties();
  afterEach(parties.opened.close);
  const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;
  const NAME = 'drop\n\u202eTool: "read"\u200b';
  const texts: [string, string][] = [
    ["line breaks", 'x"\nTool: "read"\r\u2028Arguments: {}\u0085'],
    ["text that turns around", "\u202eevorppa\u2066\u061c\u200f"],
    ["what can't be seen", "a\u200b\u200d\u2060\ufeff\u00ad\u3164\u{e0041}\u{e007f}\u001b[2J"],
    ["Markdown", "**approved** [ok](https://evil.example/?q) ![](https://evil.example/i.png) `</b>` # <script>"],
    ["very much", `approve this ${"now ".repeat(20_000)}`],
    ["marks that pile up", `Z${"\u0301".repeat(200)}`],
  ];

  it.each(texts)("H-32: %s in quotes, bounded and to be seen, in both eras", async (_, text) => {
    const offer: Offer = { tools: { drop: { title: text }, [NAME]: { title: text } } };
    const { gateway, host } = await askingHost(parties, { newReleaseTools: "ask" }, offer);
    const messages: string[] = [];
    for (const revision of ["2026-07-28", "2025-11-25"]) {
      const client = await officialAgent(vouched(host, revision), revision, (message) => {
        messages.push(message);
        return { action: "accept", content: { decision: "deny" } };
      });
      const { tools } = await client.listTools();
      for (const { name } of tools) {
        await expect(client.callTool({ name, arguments: { [text]: text } })).rejects.toMatchObject({
          data: { "sh.tutti/delivery": denied("denied") },
        });
      }
    }
    expect(messages).toHaveLength(4);
    for (const message of messages) {
      const lines = message.split("\n");
      expect(lines.map((line) => /^[A-Z][a-z ]*/.exec(line)?.[0])).toEqual([
        "An agent wants to call a tool that needs an approval for each call",
        "Connector",
        "Tool",
        "Arguments",
        "Asked by",
        "What is in quotes was written by the connector or the agent",
      ]);
      for (const line of lines) expect(line).not.toMatch(UNSEEN);
      expect(message.length).toBeLessThan(40_000);
      const shown = /^Tool: ("(?:[^"\\]|\\.)*"), titled ("(?:[^"\\]|\\.)*")(?: \(and (\d+) more characters\))?$/.exec(
        lines[2] ?? "",
      );
      expect([JSON.stringify("drop"), JSON.stringify(NAME)]).toContain(JSON.stringify(JSON.parse(shown?.[1] ?? "")));
      const title: unknown = JSON.parse(shown?.[2] ?? "");
      expect(title).toBe(text.slice(0, 256));
      expect(Number(shown?.[3] ?? 0)).toBe(Math.max(0, text.length - 256));
      expect(lines[3]).toMatch(text.length > 4_096 ? / \(\d+ more bytes of the arguments are not shown\)$/ : /"\}$/);
    }
    expect(sent(gateway)).toBe(0);
  });
});
