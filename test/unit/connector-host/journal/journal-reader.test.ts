import { describe, expect, it } from "vitest";
import { entryOf, Journaling, resultOf } from "./parties.js";

/** So many requests, of the connectors `a` and `b` in turn; every third failed and nobody knows how far it got. */
async function filled(count: number): Promise<Journaling> {
  const journaling = new Journaling();
  for (let nth = 0; nth < count; nth += 1) {
    const begun = journaling.journal.begin({ ...entryOf(), connectorKey: nth % 2 === 0 ? "a" : "b" });
    if (nth % 100 === 0) await journaling.turn();
    void begun.then((call) =>
      call.end(nth % 3 === 0 ? { kind: "failure", delivery: "unknown", code: "timeout" } : resultOf()),
    );
  }
  await journaling.turn();
  await journaling.turn();
  return journaling;
}

/** Lets turns pass until a promise has settled. */
async function passing<T>(journaling: Journaling, asked: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = asked.finally(() => (state.isOver = true));
  over.catch(() => undefined);
  while (!state.isOver) await journaling.turn();
  return over;
}

describe("JournalReader", () => {
  it("H-35: lists page by page from the latest, each attempt once", async () => {
    const journaling = await filled(25);
    const { reader } = journaling.journal;
    const ids: string[] = [];
    for (let before: string | undefined; ;) {
      const page = await reader.list({ before, limit: 10 });
      ids.push(...page.map(({ id }) => id));
      if (page.length < 10) break;
      before = page.at(-1)?.id;
    }
    expect(ids).toHaveLength(25);
    expect(ids).toEqual([...new Set(ids)].sort().toReversed());
  });

  it("H-35: lists those of a connector and of a verdict, however far apart they are, and lets other turns pass meanwhile", async () => {
    const journaling = await filled(1_200);
    const { reader } = journaling.journal;
    const some = await passing(journaling, reader.list({ connectorKey: "b", verdict: "unknown", limit: 1_000 }));
    expect(some).toHaveLength(200);
    expect(new Set(some.map(({ connectorKey, verdict }) => `${connectorKey} ${String(verdict)}`))).toEqual(
      new Set(["b unknown"]),
    );
    const walk = async (): Promise<number> => {
      let count = 0;
      for await (const _ of reader.entries({ connectorKey: "a" })) count += 1;
      return count;
    };
    expect(await passing(journaling, walk())).toBe(600);
  });

  it("H-35: what cannot be asked is refused by name", async () => {
    const { reader } = (await filled(1)).journal;
    await expect(reader.list({ before: "nonsense" })).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(reader.list({ limit: 0 })).rejects.toMatchObject({ code: "invalid_options" });
    await expect(reader.acknowledge(["0".repeat(12)])).rejects.toMatchObject({ code: "invalid_argument" });
    // @ts-expect-error -- what a caller in JavaScript can do
    await expect(reader.list({ conectorKey: "a" })).rejects.toMatchObject({ details: { suggestion: "connectorKey" } });
    // @ts-expect-error -- what a caller in JavaScript can do
    expect(() => reader.entries({ conectorKey: "a" })).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });

  it("H-35: several are acknowledged at once, and those that are none are left alone", async () => {
    const { reader } = (await filled(9)).journal;
    const ids = (await reader.list()).map(({ id }) => id);
    expect(await reader.acknowledge(ids)).toBe(3);
    expect(await reader.acknowledge(ids)).toBe(0);
    expect(await reader.unknowns()).toEqual([]);
    expect(
      (await reader.list({ verdict: "unknown" })).every(({ acknowledgedAt }) => acknowledgedAt !== undefined),
    ).toBe(true);
  });
});
