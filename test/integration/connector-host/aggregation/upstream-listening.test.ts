import { afterEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../support/fake-clock.js";
import { Opened } from "../../../support/opened.js";
import type { ConnectorCall } from "../../../support/scripted-gateway.js";
import {
  bindingOf,
  ChangingConnector,
  DirectoryParty,
  LISTS_CHANGED,
  TOOLS_CHANGED,
  toolsText,
} from "../../../support/directory-party.js";

const opened = new Opened();
afterEach(opened.close);

/** A directory over one connector that tells of changes. */
async function changing(key = "a") {
  const party = await DirectoryParty.start(opened, [key]);
  const connector = new ChangingConnector(party.gateway, key, "x");
  await party.publish(key, { discovered: LISTS_CHANGED });
  return { party, connector };
}

/** Calls until a call reads no contract. */
async function becomesFree(party: DirectoryParty): Promise<void> {
  const lists = async (): Promise<number> => {
    const before = party.count("tools/list");
    await party.call("a_x");
    return party.count("tools/list") - before;
  };
  await expect.poll(lists, { timeout: 5_000, interval: 5 }).toBe(0);
}

describe("listening upstream", () => {
  it("H-25: is done while an agent listens, and a change reaches those whose list differs", async () => {
    const { party, connector } = await changing();
    const [listed, other] = [bindingOf("listed"), bindingOf("never-listed")];
    await party.list(listed);
    const first = party.listen(listed);
    const second = party.listen(other);
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    // The server had been told to tell when nobody listened: what was given is looked at again, and is the same.
    await expect.poll(() => party.count("tools/list"), { interval: 5 }).toBe(2);
    connector.tell();
    // Nothing changed for the one that has a list; the other knows none, and something may have.
    await expect.poll(() => second.told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect(first.told).toEqual([]);
    connector.names = ["x", "y"];
    connector.tell();
    await expect.poll(() => first.told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect((await party.list(listed)).names).toEqual(["a_x", "a_y"]);
    first.stop();
    second.stop();
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(0);
    expect(connector.opened).toBe(1);
  });

  it("H-26 MB-150: while a stream is open and silent, calls read no contract; a change is read once", async () => {
    const { party, connector } = await changing();
    party.listen();
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    await becomesFree(party);
    const before = party.count("tools/list");
    const calls = party.count("tools/call");
    await Promise.all(Array.from({ length: 20 }, () => party.call("a_x")));
    expect([party.count("tools/list"), party.count("tools/call")]).toEqual([before, calls + 20]);
    connector.tell();
    await expect.poll(() => party.call("a_x").then(() => party.count("tools/list"))).toBe(before + 1);
    await party.call("a_x");
    expect([party.count("tools/list"), party.count("server/discover")]).toEqual([before + 1, 0]);
  });

  it("H-26: calls alone are worth a stream from the second on, and without one each reads its contract", async () => {
    const { party, connector } = await changing();
    await party.call("a_x");
    expect([connector.opened, party.count("tools/list")]).toEqual([0, 1]);
    await party.call("a_x");
    expect(party.count("tools/list")).toBe(2);
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    await becomesFree(party);
  });

  it("H-25: a stream that broke counts as a change until it is open again, and what changed meanwhile is told", async () => {
    const { party, connector } = await changing();
    const { told } = party.listen();
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    await party.list();
    await becomesFree(party);
    connector.cut();
    // Without the stream each call reads its contract.
    const before = party.count("tools/list");
    await expect.poll(() => party.call("a_x").then(() => party.count("tools/list") > before)).toBe(true);
    connector.names = ["y"];
    expect(told).toEqual([]);
    await expect.poll(() => told, { timeout: 3_000, interval: 10 }).toEqual([TOOLS_CHANGED]);
    expect(connector.opened).toBe(2);
  });

  it("H-25: a list that is older than a stream is compared with what the stream's server lists", async () => {
    const clock = new FakeClock();
    const party = await DirectoryParty.start(opened, ["a", "b", "slow"], { clock });
    const connector = new ChangingConnector(party.gateway, "a", "x");
    await party.publish("a", { discovered: LISTS_CHANGED });
    const held: ConnectorCall[] = [];
    party.gateway.script("slow", (call) => held.push(call));
    const listing = party.list();
    await expect.poll(() => held.length + party.count("tools/list", "a"), { interval: 5 }).toBe(2);
    connector.names = ["y"];
    const { told } = party.listen();
    await clock.advance(20);
    await expect.poll(() => connector.streams.length, { interval: 5 }).toBe(1);
    // Time enough for its first message, without asking it for anything.
    for (let times = 0; times < 3; times += 1) await party.call("b_echo");
    await clock.advance(20);
    expect(told).toEqual([]);
    held[0]?.result(toolsText("echo"));
    expect((await listing).names).toEqual(["a_x", "b_echo", "slow_echo"]);
    await clock.advance(20);
    await expect.poll(() => told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
  });

  it("H-25: what one agent's list finds changed is told to the others", async () => {
    const party = await DirectoryParty.start(opened, ["a"]);
    const connector = new ChangingConnector(party.gateway, "a", "x");
    const other = bindingOf("other");
    await party.list();
    await party.list(other);
    const { told } = party.listen();
    connector.names = ["x", "y"];
    expect((await party.list(other)).names).toEqual(["a_x", "a_y"]);
    await expect.poll(() => told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
  });

  it("H-25: of one origin 16 streams are held, those of the connectors called last", async () => {
    const keys = Array.from({ length: 18 }, (_, index) => `c${String(index).padStart(2, "0")}`);
    const party = await DirectoryParty.start(opened, keys);
    const connectors = keys.map((key) => new ChangingConnector(party.gateway, key, "x"));
    for (const key of keys) await party.publish(key, { discovered: LISTS_CHANGED });
    await party.call("c17_x");
    party.listen();
    const held = (): string[] => keys.filter((_, index) => (connectors[index]?.streams.length ?? 0) > 0);
    await expect.poll(held, { interval: 5 }).toEqual([...keys.slice(0, 15), "c17"]);
  });
});

describe("what agents are told", () => {
  it("H-25: a connector that comes or goes is told to those that reach it; one that is replaced by its like is not", async () => {
    const party = await DirectoryParty.start(opened, ["a", "b"]);
    await party.list();
    const { told } = party.listen();
    await party.publish("a");
    await expect.poll(() => party.count("tools/list", "a"), { interval: 5 }).toBe(2);
    expect(told).toEqual([]);
    await party.withdraw("b");
    await expect.poll(() => told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect((await party.list()).names).toEqual(["a_echo"]);
    await party.publish("b", {
      tools: new Map([["echo", { tool: { name: "echo", inputSchema: {} }, contract: NONE }]]),
    });
    await expect.poll(() => told, { interval: 5 }).toHaveLength(2);
    // That it is there is news enough: it was not asked what it lists.
    expect(party.count("tools/list", "b")).toBe(1);
  });
});

const NONE = { parameters: [] };
