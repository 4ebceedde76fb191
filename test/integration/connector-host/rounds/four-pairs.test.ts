import type { Client } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test } from "vitest";
import { scriptedDeclaration } from "../../../support/device.js";
import { LISTED, officialAgent, type Person, person, SAMPLED } from "./asked-agents.js";
import { AskingParties, saidIn } from "./asking-parties.js";

const parties = new AskingParties();
afterEach(parties.opened.close);

describe("an agent that is asked by the server of its connector", () => {
  describe.each(["2026-07-28", "2025-11-25"])("H-27: an official client of %s", (revision) => {
    test.each(["modern", "legacy"])("answers forms, sampling and roots of a %s official server", async (server) => {
      const { host, upstreams } = await parties.asking();
      const who = person();
      const agent = await officialAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }), revision, who);
      const isModern = server === "modern";
      const greeted = await agent.callTool({ name: `${server}_greet`, arguments: { whom: "Bob" } });
      expect(who.shown).toEqual(["Who is Bob?"]);
      const given = expect.objectContaining({ action: "accept", content: { name: "Ada" } }) as unknown;
      expect(saidIn(greeted)).toEqual(["greeted", "Bob", given]);
      const many = await agent.callTool({ name: `${server}_many`, arguments: {} });
      expect(saidIn(many)).toEqual([
        given,
        isModern ? expect.objectContaining({ kind: "sampling" }) : SAMPLED,
        isModern ? expect.objectContaining({ kind: "roots" }) : LISTED,
      ]);
      const { messages } = await agent.getPrompt({ name: `${server}_ask` });
      expect(who.shown.at(-1)).toBe("For whom?");
      expect(JSON.stringify(messages)).toContain("Ada");
      who.answer = () => ({ action: "decline" });
      const declined = await agent.callTool({ name: `${server}_greet`, arguments: {} });
      expect(saidIn(declined)).toEqual(["greeted", "you", expect.objectContaining({ action: "decline" })]);
      // A modern server is asked again with what was said; a legacy one goes on.
      expect(upstreams.runs).toEqual(isModern ? { greet: 4, many: 2 } : { greet: 2, many: 1 });
      expect(host.agents).toMatchObject({ heldCalls: 0 });
    });
  });

  test("H-27: two agents that call one legacy server at once each get their own form", async () => {
    const { host } = await parties.asking();
    const agents = await Promise.all(
      ["2026-07-28", "2025-11-25", "2026-07-28"].map(async (revision, place) => {
        const who = person(`name ${String(place)}`);
        const bound = host.bind({ workspaceId: "w", agentSessionId: `s${String(place)}` });
        return { who, whom: `of ${String(place)}`, agent: await officialAgent(bound, revision, who) };
      }),
    );
    const results = await Promise.all(
      agents.map(({ agent, whom }) => agent.callTool({ name: "legacy_greet", arguments: { whom } })),
    );
    for (const [place, { who, whom }] of agents.entries()) {
      expect(who.shown).toEqual([`Who is ${whom}?`]);
      const content = { name: `name ${String(place)}` };
      expect(saidIn(results[place])).toEqual(["greeted", whom, expect.objectContaining({ content })]);
    }
  });

  test("H-4, H-27: nothing is declared to a server that was not opened for it, and nobody is asked", async () => {
    const { host, upstreams } = await parties.asking({}, { capabilities: ["tools"] });
    const who = person();
    const agent = await officialAgent(host.bind({ workspaceId: "w", agentSessionId: "s" }), "2026-07-28", who);
    expect(await agent.callTool({ name: "legacy_greet", arguments: {} })).toMatchObject({ isError: true });
    expect(upstreams.declared).toEqual([{}]);
    await expect(agent.callTool({ name: "modern_greet", arguments: {} })).rejects.toThrow();
    expect(who.shown).toEqual([]);
  });
});

const CALLS = 4;
const TOOLS = [{ name: "asks", inputSchema: { type: "object" } }];
const PROGRAM = { revision: "2025-11-25", pages: [{ tools: TOOLS }] };
const OPENED = { capabilities: ["tools", "elicitation"] };

/** Says who it is, and to what it answers. */
function namedPerson(name: string): Person {
  return { shown: [], answer: (message) => ({ action: "accept", content: { name: `${name}: ${message}` } }) };
}

interface Asked {
  readonly name: string;
  readonly who: Person;
  readonly client: Client;
}

/** Two agents of each era, of which the legacy ones share one bearer. */
async function fourAgents(stdio: readonly object[] = [], programs: readonly string[] = []) {
  const { host } = await parties.asking({ stdio }, { programs });
  const bearer = (agentSessionId: string) => host.bind({ workspaceId: "w", agentSessionId });
  const shared = bearer("shared");
  const bearers = [bearer("ada"), bearer("bob"), shared, shared];
  const agents: Asked[] = [];
  for (const [index, name] of ["ada", "bob", "cyd", "dan"].entries()) {
    const who = namedPerson(name);
    const client = await officialAgent(bearers[index] ?? shared, index < 2 ? "2026-07-28" : "2025-11-25", who);
    agents.push({ name, who, client });
  }
  return { host, agents };
}

function whoIs(name: string, call: number): string {
  return `Who is ${name}-${String(call)}?`;
}

async function callMany(agents: readonly Asked[], call: (agent: Asked, number: number) => Promise<unknown>) {
  const numbers = Array.from({ length: CALLS }, (_, number) => number);
  return Promise.all(agents.map((agent) => Promise.all(numbers.map((number) => call(agent, number)))));
}

describe("agents that call at once what asks", () => {
  test("H-27: over the connections to an official legacy server each form reaches its own agent, and each answer its call", async () => {
    const { agents, host } = await fourAgents();
    const answers = await callMany(agents, async ({ client, name }, number) => {
      const whom = `${name}-${String(number)}`;
      return saidIn(await client.callTool({ name: "legacy_greet", arguments: { whom } }));
    });
    for (const [index, { name, who }] of agents.entries()) {
      const own = Array.from({ length: CALLS }, (_, number) => whoIs(name, number));
      expect(who.shown.toSorted()).toEqual(own);
      const given = own.map((message) => ({ action: "accept", content: { name: `${name}: ${message}` } }));
      expect(answers[index]).toEqual(given.map((answer, number) => ["greeted", `${name}-${String(number)}`, answer]));
    }
    expect(host.agents?.heldCalls).toBe(0);
  });

  test("H-27: so it does over the one connection of a program", async () => {
    const { agents, host } = await fourAgents(
      [scriptedDeclaration("scripted-stdio-server", PROGRAM, OPENED)],
      ["files"],
    );
    const answers = await callMany(agents, async ({ client, name }, number) => {
      const params = { message: whoIs(name, number), requestedSchema: { type: "object", properties: {} } };
      const asks = [{ method: "elicitation/create", params }];
      const { structuredContent } = await client.callTool({ name: "files_asks", arguments: { asks } });
      return structuredContent;
    });
    for (const [index, { name, who }] of agents.entries()) {
      const own = Array.from({ length: CALLS }, (_, number) => whoIs(name, number));
      expect(who.shown.toSorted()).toEqual(own);
      expect(answers[index]).toMatchObject(
        own.map((message) => ({
          answers: [{ result: { action: "accept", content: { name: `${name}: ${message}` } } }],
        })),
      );
    }
    expect(host.agents?.heldCalls).toBe(0);
  });
});
