import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Revision } from "remote-connector/protocol";
import { beyondRevision, cannot } from "./cannot.js";
import { type Cell, type Column, COLUMNS } from "./column.js";
import type { Profile } from "./profile.js";
import { type Place, reach, type Subject, wordsFor } from "./subject.js";

/** One client with one server. */
export interface RowPlan {
  /** What has to be spoken. */
  readonly revision: Revision;
  /** Whether the era and the revision are to be found, or are told. */
  readonly by: "auto" | "fixed";
}

export type Cells = Readonly<Record<Column, Cell>>;

/** No cell takes longer. More than it takes to give up connecting, so that no client comes when nobody waits any more. */
const CELL_MS = 15_000;
/** How often a server is asked what it saw. */
const LOOK_MS = 20;

/** The cells of a row of which nothing could be tried. */
export function allFailed(reason: string): Record<Column, Cell> {
  const cell: Cell = { kind: "failed", reason, ms: 0 };
  return {
    connect: cell,
    tools: cell,
    resources: cell,
    prompts: cell,
    call: cell,
    progress: cell,
    cancel: cell,
    read: cell,
    notify: cell,
    elicit: cell,
    close: cell,
  };
}

/** Fills the cells of a row, one after the other. Never rejects. */
export async function runRow(plan: RowPlan, place: Place, profile: Profile): Promise<Cells> {
  const { revision, by } = plan;
  let subject: Subject | undefined;
  let tools: readonly string[] = [];

  const cells = allFailed("not connected");
  cells.connect = await timed(async () => {
    subject = await reach(place, by === "auto" ? undefined : revision);
    tools = (await subject.client.listAllTools()).tools.map(({ name }) => name);
    expectEqual(subject.client.revision, revision, "the revision");
    expectEqual(subject.era, revision < "2026" ? "legacy" : "modern", "the era");
  });
  if (subject === undefined) return cells;
  for (const column of COLUMNS) {
    if (column !== "connect") cells[column] = await fill(column, subject, profile, plan, tools);
  }
  return cells;
}

async function fill(
  column: Column,
  subject: Subject,
  profile: Profile,
  plan: RowPlan,
  tools: readonly string[],
): Promise<Cell> {
  const beyond = beyondRevision(column, plan.revision);
  if (beyond !== undefined) return { kind: "cannot", reason: beyond };
  const reason = cannot(column, profile, { capabilities: subject.capabilities, tools });
  // What the server declares and what is known of it must agree: else a list that was read wrong would look like a lack.
  const isKnown = profile.lacks.includes(column);
  if (reason !== undefined && !isKnown) return { kind: "failed", reason: `${reason} It should.`, ms: 0 };
  if (reason === undefined && isKnown)
    return { kind: "failed", reason: "The server can do it, but should not.", ms: 0 };
  return reason === undefined ? timed(() => TRIALS[column](subject, profile)) : { kind: "cannot", reason };
}

type Trial = (subject: Subject, profile: Profile) => Promise<void>;

const TRIALS: Readonly<Record<Column, Trial>> = {
  connect: async () => undefined,
  tools: async ({ client }, { tools }) => {
    expectAll(
      (await client.listAllTools()).tools.map(({ name }) => name),
      tools,
    );
  },
  resources: async ({ client }, { resources = [] }) => {
    expectAll(
      (await client.listAllResources()).entries.map(({ uri }) => uri),
      resources,
    );
  },
  prompts: async ({ client }, { prompts = [] }) => {
    expectAll(
      (await client.listAllPrompts()).entries.map(({ name }) => name),
      prompts,
    );
  },
  call: async ({ client }, { call }) => expectHas(await client.callTool(call.call), call.has),
  progress: async ({ client }, profile) => {
    const { call, values } = present(profile.progress);
    const seen: number[] = [];
    await client.callTool(call, { onProgress: ({ progress }) => seen.push(progress) });
    expectEqual(seen, values, "the progress");
  },
  cancel: async ({ client }, profile) => {
    const { wait, seen } = present(profile.cancel);
    const given = { key: randomUUID() };
    const becomes = async (word: string): Promise<void> => {
      const ask = (): Promise<object> => client.callTool({ name: seen, arguments: given });
      while (!JSON.stringify(await ask()).includes(word)) await pause(LOOK_MS);
    };
    const abort = new AbortController();
    const calling = client.callTool({ name: wait, arguments: given }, { signal: abort.signal });
    const outcome = calling.then(
      () => "a result",
      (error: unknown) => error,
    );
    await becomes("waiting");
    abort.abort("enough");
    expectEqual(await outcome, "enough", "what the call rejects with");
    await becomes("aborted");
  },
  read: async ({ client }, profile) => {
    const { uri, has } = present(profile.read);
    expectHas(await client.readResource({ uri }), has);
  },
  notify: async (subject, profile) => {
    const { uri, touch } = present(profile.notify);
    const changes = await subject.watch(uri);
    const change = changes.next();
    await subject.client.callTool(touch);
    expectHas(await change, uri);
    changes.close();
  },
  elicit: async ({ client }, profile) => {
    const { call, has } = present(profile.elicit);
    expectHas(await client.callTool(call), has);
  },
  close: async ({ client }) => client.close(),
};

async function timed(run: () => Promise<void>): Promise<Cell> {
  const startedAt = performance.now();
  const limit = new AbortController();
  const late = pause(CELL_MS, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`nothing came of it within ${String(CELL_MS / 1000)} s`);
  });
  try {
    await Promise.race([run(), late]);
    return { kind: "ok", ms: Math.round(performance.now() - startedAt) };
  } catch (error) {
    return { kind: "failed", reason: wordsFor(error), ms: Math.round(performance.now() - startedAt) };
  } finally {
    late.catch(() => undefined);
    limit.abort();
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the profile does not say what to expect");
  return value;
}

function expectEqual(found: unknown, wanted: unknown, what: string): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (left !== right) throw new Error(`${what} should be ${right}, not ${left}`);
}

function expectAll(found: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !found.includes(name));
  if (missing.length > 0) throw new Error(`not listed: ${missing.join(", ")}`);
}

function expectHas(found: unknown, piece: string): void {
  const text = JSON.stringify(found) ?? "nothing";
  if (!text.includes(JSON.stringify(piece).slice(1, -1))) {
    throw new Error(`${JSON.stringify(piece)} is not in ${text.slice(0, 200)}`);
  }
}
