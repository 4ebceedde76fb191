import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Agent } from "./agent.js";
import { askingSlug, noteOf, type Questions, type Upstream } from "./upstream.js";

/** What is tried over each agent with each server, in order. */
export const TRIAL_NAMES = [
  "list",
  "call",
  "progress",
  "cancel",
  "prompt",
  "read",
  "subscribe",
  "elicit",
  "visit",
  "sample",
  "roots",
] as const;

export type TrialName = (typeof TRIAL_NAMES)[number];

const OFFERED = ["ask", "count", "echo", "roots", "sample", "seen", "touch", "visit", "wait"];
/** How often a server is asked what it saw. */
const LOOK_MS = 20;
/** Over stdio the official clients lose progress that comes together with the result, whoever sends it: on a busy machine, now and then. */
const STEP_MS = 20;
const ATTEMPTS = 5;

type Trial = (agent: Agent, upstream: Upstream) => Promise<void>;

/** Each rejects when what comes of it is not what it should be. */
export const TRIALS: Readonly<Record<TrialName, Trial>> = {
  async list(agent, upstream) {
    expectAll(await agent.listTools(), OFFERED.map(named(upstream)));
    expectAll(await agent.listPrompts(), ["greet"].map(named(upstream)));
    expectAll(await agent.listResources(), [noteOf(upstream)]);
  },
  async call(agent, upstream) {
    const text = "otters, ö and 😀";
    expectHas(await agent.callTool(named(upstream)("echo"), { text }), text);
  },
  async progress(agent, upstream) {
    let told = "";
    for (let attempt = 0; attempt < ATTEMPTS && told !== "1,2,3,4,5"; attempt += 1) {
      const seen: number[] = [];
      const onprogress = ({ progress }: { readonly progress: number }): void => void seen.push(progress);
      await agent.callTool(named(upstream)("count"), { to: 5, everyMs: STEP_MS }, { onprogress });
      told = seen.join();
    }
    if (told !== "1,2,3,4,5") throw new Error(`the progress was ${told}`);
  },
  async cancel(agent, upstream) {
    const key = randomUUID();
    const becomes = async (word: string): Promise<void> => {
      const ask = (): Promise<object> => agent.callTool(named(upstream)("seen"), { key });
      while (!JSON.stringify(await ask()).includes(word)) await pause(LOOK_MS);
    };
    const abort = new AbortController();
    const calling = agent.callTool(named(upstream)("wait"), { key }, { signal: abort.signal });
    const outcome = calling.then(
      () => "a result",
      () => "a rejection",
    );
    await becomes("waiting");
    abort.abort();
    if ((await outcome) === "a result") throw new Error("the call that was given up had a result");
    await becomes("aborted");
  },
  async prompt(agent, upstream) {
    expectHas(await agent.getPrompt(named(upstream)("greet"), { name: "Ada" }), "Greet Ada");
  },
  async read(agent, upstream) {
    expectHas(await agent.readResource(noteOf(upstream)), "a note");
  },
  async subscribe(agent, upstream) {
    const uri = noteOf(upstream);
    const updated = deferred();
    await agent.watch(uri, updated.resolve);
    await agent.callTool(named(upstream)("touch"), {});
    const told = await updated.promise;
    if (told !== uri) throw new Error(`told of ${told}`);
  },
  // What is looked for in the result can only come of the agent's answer.
  elicit: (agent, upstream) => asking(agent, upstream, "elicit", "Ada"),
  visit: (agent, upstream) => asking(agent, upstream, "visit", "accept"),
  sample: (agent, upstream) => asking(agent, upstream, "sample", "four"),
  roots: (agent, upstream) => asking(agent, upstream, "roots", "file:///of-the-agent"),
};

async function asking(agent: Agent, upstream: Upstream, question: keyof Questions, piece: string): Promise<void> {
  const { tool, args = {} } = upstream.questions[question];
  expectHas(await agent.callTool(`${askingSlug(upstream)}_${tool}`, args), piece);
}

function named({ slug }: Upstream): (name: string) => string {
  return (name) => `${slug}_${name}`;
}

function expectAll(found: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !found.includes(name));
  if (missing.length > 0) throw new Error(`not listed: ${missing.join(", ")}`);
}

function expectHas(found: unknown, piece: string): void {
  const text = JSON.stringify(found) ?? "nothing";
  if (!text.includes(piece)) throw new Error(`${piece} is not in ${text.slice(0, 200)}`);
}

/** A text to come. */
function deferred(): { readonly promise: Promise<string>; readonly resolve: (text: string) => void } {
  let resolve: (text: string) => void = () => undefined;
  const promise = new Promise<string>((done) => (resolve = done));
  return { promise, resolve };
}
