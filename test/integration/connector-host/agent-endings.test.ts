import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { RawAgent } from "../../support/agent.js";
import { arrived, becomes, holding, HostParties } from "./host-parties.js";

const parties = new HostParties();

afterEach(() => parties.opened.close());

describe.each(["last_list", "reread"] as const)("an agent that is gone, with the contract %s", (contracts) => {
  it("H-26: a call that it left, or whose bearer ended, ends at its connector, and the others go on", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const { host } = await parties.host(gateway, ["a"], { contracts });
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const agentOf = (agentSessionId: string) => {
      const bound = host.bind({ workspaceId: "w", agentSessionId });
      return { bound, agent: new RawAgent(bound) };
    };
    const [leaving, ended, staying] = [agentOf("leaving"), agentOf("ended"), agentOf("staying")];
    const held = holding(gateway, "a", "tools/call");
    const call = { name: "a_echo", arguments: {} };
    const left = new AbortController();
    const calls = [leaving.agent.send("tools/call", call, left.signal)];
    await arrived(held, 1);
    calls.push(ended.agent.send("tools/call", call));
    await arrived(held, 2);
    calls.push(staying.agent.send("tools/call", call));
    await arrived(held, 3);
    const gone = held.slice(0, 2).map(({ response }) => once(response, "close"));
    const answers = Promise.allSettled(calls);
    left.abort();
    ended.bound.revoke();
    await Promise.all(gone);
    expect(held.map(({ response }) => response.destroyed)).toEqual([true, true, false]);
    held[2]?.result('{"resultType":"complete","content":[]}');
    const [, , answer] = await answers;
    expect(answer).toMatchObject({ status: "fulfilled", value: { status: 200 } });
  });
});
