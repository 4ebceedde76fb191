import { afterEach, describe, expect, it } from "vitest";
import type { ScriptedGateway } from "../../support/scripted-gateway.js";
import { agentOf, arrived, becomes, holding, HostParties, type HostParty, kindsOf } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const UNKNOWN = { "sh.tutti/delivery": expect.objectContaining({ delivery: "unknown" }) };

/** Two connectors of an account, one of the device. */
async function hostOf(gateway: ScriptedGateway): Promise<HostParty> {
  const settings = { endpoint: `${gateway.url}/v1/connectors/docs/mcp`, protocol: "modern" };
  return parties.host(gateway, ["a", "b"], { registrations: [{ slug: "docs", displayName: "Docs", settings }] });
}

/** These connectors are ready behind the closed gate. */
async function staged({ host }: HostParty, kind: "account" | "device", keys: readonly string[]): Promise<void> {
  await expect.poll(() => host.gates.waiting(kind), { timeout: 5_000, interval: 5 }).toEqual(keys);
}

describe("H-15: a gate for each scope", () => {
  it("H-15: behind a closed one connectors are made ready, and opening publishes all of them in one step", async () => {
    const gateway = await parties.gateway({ a: 1, b: 1 });
    const party = await hostOf(gateway);
    const { host, published } = party;
    await becomes(host, { a: "signed_out", b: "signed_out", docs: "ready" });
    await host.gates.close("account");
    host.signIn("ada");
    await staged(party, "account", ["a", "b"]);
    await becomes(host, { a: "starting", b: "starting", docs: "ready" });
    const agent = agentOf(host);
    expect((await agent.list()).names).toEqual(["docs_echo"]);
    const asked = gateway.calls.length;
    // Whoever is told of the first sees all of them.
    const seen: (readonly string[])[] = [];
    host.onPublication(() => seen.push(host.gates.waiting("account")));
    const observed: string[] = [];
    host.events.subscribe((event) => {
      if (event.kind === "observed") observed.push(`${event.key} ${event.readiness}`);
    });
    host.gates.open("account");
    // Before anything is awaited.
    expect(kindsOf(published)).toEqual(["published docs", "published a", "published b"]);
    expect(seen).toEqual([[], []]);
    expect(host.gates.isOpen("account")).toBe(true);
    await becomes(host, { a: "ready", b: "ready", docs: "ready" });
    // What was staged was not observed.
    await expect.poll(() => observed.toSorted(), { timeout: 5_000, interval: 5 }).toEqual(["a ready", "b ready"]);
    expect((await agent.call("b_echo")).result).toBeDefined();
    // What was ready was not made anew.
    const discovered = gateway.calls.slice(asked).filter(({ method }) => method === "server/discover");
    expect(discovered).toEqual([]);
  });

  it("H-15: closing one ends everything of its scope at once, and nothing of the other", async () => {
    const gateway = await parties.gateway({ a: 1, b: 1 });
    const party = await hostOf(gateway);
    const { host, published } = party;
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready", docs: "ready" });
    const held = holding(gateway, "docs", "tools/call");
    const agent = agentOf(host);
    const answer = agent.call("docs_echo");
    await arrived(held);
    const before = published.length;
    const closing = host.gates.close("device");
    expect(kindsOf(published).slice(before)).toEqual(["withdrawn docs"]);
    expect((await answer).error?.data).toMatchObject(UNKNOWN);
    expect(await closing).toEqual({ pending: 0 });
    expect((await agent.call("a_echo")).result).toBeDefined();
    await staged(party, "device", ["docs"]);
    expect(kindsOf(published).slice(before)).toEqual(["withdrawn docs"]);
    host.gates.open("device");
    await becomes(host, { a: "ready", b: "ready", docs: "ready" });
    expect(kindsOf(published).slice(before)).toEqual(["withdrawn docs", "published docs"]);
  });

  it("H-15, H-11: disabling passes a closed gate and takes away what is staged behind it", async () => {
    const gateway = await parties.gateway({ a: 1, b: 1 });
    const party = await hostOf(gateway);
    const { host, published } = party;
    await host.gates.close("account");
    host.signIn("ada");
    await staged(party, "account", ["a", "b"]);
    await becomes(host, { a: "starting", b: "starting", docs: "ready" });
    await host.connectors.setEnabled("a", false);
    expect(host.gates.waiting("account")).toEqual(["b"]);
    await becomes(host, { a: "switched_off", b: "starting", docs: "ready" });
    host.gates.open("account");
    await becomes(host, { a: "switched_off", b: "ready", docs: "ready" });
    expect(kindsOf(published)).not.toContain("published a");
    // A login that ends takes what is staged with it.
    await host.gates.close("account");
    host.signOut();
    host.gates.open("account");
    expect(kindsOf(published).filter((event) => event === "published b")).toHaveLength(1);
  });
});
