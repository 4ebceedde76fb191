import fc from "fast-check";
import { expect, it } from "vitest";
import { deliveryOf } from "../../../../src/errors.js";
import { settle } from "../../../support/fake-clock.js";
import { Bench, exit, type FakeProcess } from "./server-bench.js";

const SEED = 20_260_728;

const DEEDS = ["initialize", "list", "list nothing", "get ready", "die", "change", "hold on", "let go"] as const;

type Step =
  | { readonly kind: "user"; readonly does: "enable" | "disable" | "restart" }
  | { readonly kind: "process"; readonly does: (typeof DEEDS)[number] }
  | { readonly kind: "call"; readonly waits: boolean; readonly connectTimeoutMs: number }
  | { readonly kind: "answer"; readonly as: "result" | "lost" | "gone" }
  | { readonly kind: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("user"), does: fc.constantFrom("enable", "disable", "restart") }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("process"), does: fc.constant("get ready") }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("process"), does: fc.constantFrom(...DEEDS) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("call"),
      waits: fc.boolean(),
      connectTimeoutMs: fc.constantFrom(1, 1_000, 60_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("answer"), as: fc.constantFrom("result", "lost", "gone") }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.constantFrom(0, 20, 1_000, 60_000) }) },
);

async function processStep(process: FakeProcess, does: Extract<Step, { kind: "process" }>["does"]): Promise<void> {
  switch (does) {
    case "initialize":
      return process.initialize();
    case "list":
      return process.give("echo");
    case "list nothing":
      return process.give();
    case "get ready":
      await process.initialize();
      return process.give("echo");
    case "die":
      return process.die();
    case "change":
      process.opening.onToolsChanged();
      return;
    case "hold on":
      process.isStubborn = true;
      return;
    case "let go":
      process.letGo();
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  const bench = new Bench({
    maxRestarts: 2,
    firstRestartDelayMs: 10,
    longestRestartDelayMs: 1_000,
    probeIntervalMs: 30_000,
  });
  const calls: Promise<unknown>[] = [];
  await settle();
  for (const each of steps) {
    const newest = bench.processes.at(-1);
    if (each.kind === "user" && each.does === "disable") void bench.server.disable();
    else if (each.kind === "user") bench.server[each.does === "enable" ? "enable" : "restart"]();
    else if (each.kind === "process" && newest !== undefined) await processStep(newest, each.does);
    else if (each.kind === "call") {
      const { waits, connectTimeoutMs } = each;
      calls.push(bench.server.callTool({ name: "echo" }, { waits, connectTimeoutMs }));
      calls.at(-1)?.catch(() => undefined);
    } else if (each.kind === "answer") {
      const asked = newest?.calls.at(-1);
      if (each.as === "result") asked?.answer("done");
      else asked?.fail(each.as === "gone" ? exit() : "lost");
    } else if (each.kind === "pass") await bench.clock.advance(each.ms);
    await settle();
    const there = bench.processes.filter(({ isGone }) => !isGone);
    expect(there.length).toBeLessThanOrEqual(1);
    if (bench.server.state.kind === "ready") expect(there[0]?.lists.length).toBeGreaterThan(0);
    if (bench.server.state.kind === "disabled") expect(bench.clock.pending).toBe(0);
  }
  const closed = bench.server.close();
  for (const process of bench.processes) process.letGo();
  await closed;
  expect(bench.processes.filter(({ isGone }) => !isGone)).toEqual([]);
  // Those that were handed to a process are its to settle.
  for (const { calls: asked } of bench.processes) for (const call of asked) call.fail("the end");
  for (const call of calls) {
    const outcome = await call.then(
      () => "answered",
      () => deliveryOf(call),
    );
    expect(["answered", "not_sent", "unknown"]).toContain(outcome);
  }
  expect(bench.clock.pending).toBe(0);
  expect(bench.diagnostics).toEqual([]);
}

it("L-16: one process at most, every call settles, and nothing is left, whatever happens", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), play), { seed: SEED, numRuns: 150 });
}, 60_000);
