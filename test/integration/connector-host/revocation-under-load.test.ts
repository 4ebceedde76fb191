import { afterEach, describe, expect, it } from "vitest";
import { working } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, holding, HostParties } from "./host-parties.js";

const parties = new HostParties();

afterEach(() => parties.opened.close());

/** What an error says under the product's key. */
function verdictOf(data: Record<string, unknown> | undefined): { delivery?: unknown; code?: unknown } {
  return JSON.parse(JSON.stringify(data?.["sh.tutti/delivery"] ?? {}));
}

describe("a revocation under sixteen calls", () => {
  it("H-13, R-6: all sixteen end at once, each as unknown, and no tool is left", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const { host, published } = await parties.host(gateway, ["a"], { contracts: "last_list" });
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const agent = agentOf(host);
    const held = holding(gateway, "a", "tools/call");
    const calls = Array.from({ length: 16 }, () => agent.call("a_echo"));
    await arrived(held, 16);
    gateway.connect(2, {});
    host.refresh();
    const ended = await Promise.all(calls);
    expect(ended.map(({ error }) => verdictOf(error?.data))).toEqual(
      Array.from({ length: 16 }, () => expect.objectContaining({ delivery: "unknown", code: "cancelled" })),
    );
    // The gateway still holds every one of them: what ended the calls was the revocation.
    expect(held.every(({ response }) => !response.writableEnded)).toBe(true);
    expect(published.at(-1)).toMatch(/^withdrawn a@/);
    expect(await agent.list()).toEqual({ names: [], omitted: {} });
    const late = await agent.call("a_echo");
    expect(verdictOf(late.error?.data).delivery).toBe("not_sent");
  });

  it("H-13, H-14, F-1: of those that are made all the time, none succeeds after it, and none that did act says not_sent", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const { host } = await parties.host(gateway, ["a"], { contracts: "last_list" });
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    const agent = agentOf(host);
    const acted = new Set<unknown>();
    gateway.script("a", (call) => {
      if (call.method === "tools/call") acted.add(JSON.parse(JSON.stringify(call.params))["arguments"].n);
      working(call);
    });
    let isRevoked = false;
    let successesAfter = 0;
    let next = 0;
    const notSent: number[] = [];
    const worker = async (): Promise<void> => {
      for (;;) {
        const startedAfter = isRevoked;
        const n = (next += 1);
        const { result, error } = await agent.call("a_echo", { n });
        if (result !== undefined && startedAfter) successesAfter += 1;
        if (verdictOf(error?.data).delivery === "not_sent") notSent.push(n);
        if (error !== undefined) return;
      }
    };
    const workers = Array.from({ length: 16 }, worker);
    await expect.poll(() => acted.size, { timeout: 10_000, interval: 5 }).toBeGreaterThan(50);
    host.onPublication(({ kind }) => (isRevoked ||= kind === "withdrawn"));
    gateway.connect(2, {});
    host.refresh();
    await Promise.all(workers);
    expect(successesAfter).toBe(0);
    expect(notSent.filter((n) => acted.has(n))).toEqual([]);
  });
});
