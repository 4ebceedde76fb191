import { atMost, type Bar } from "../support/bar.js";
import { median } from "../support/rounds.js";
import { FollowedAccount } from "./account.js";
import type { StoreKind } from "./bench-store.js";
import { Fleet } from "./fleet.js";

/** What the rows are run with. */
export interface ReconcileContext {
  readonly kind: StoreKind;
  /** From the smallest to the largest; what takes how long is compared between the last two. */
  readonly sizes: readonly [number, number, number];
  readonly rounds: number;
  /** Told of what is measured beside the bars. */
  readonly note: (text: string) => void;
}

/** Keys that change in a fleet that stands. */
const CHANGED = 100;
/** Ten times the keys make ten times the pages that the changes are spread over; what is written is the same. */
const REACH_OF_CHANGES = 2;
/** How often they do: one time takes so little that it would measure the collector. */
const CHANGES = 5;

/** Small fleets live so many times in a round, and are kept as long as the large one: as many keys, as full a memory. */
const REPEATS = 10;

/** Milliseconds of one fleet. */
interface Life {
  readonly planMs: number;
  readonly convergeMs: number;
  readonly changeMs: number;
  readonly resyncMs: number;
}

/**
 * Fleets of three sizes from the first plan on: what planning and converging cost for each key, what 100 changes cost in each, and
 * what it costs to look at all of it for nothing.
 */
export async function growth({ kind, sizes, rounds, note }: ReconcileContext): Promise<readonly Bar[]> {
  const lives = sizes.map((): Life[] => []);
  await livesOf(sizes[1], kind, REPEATS);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, size] of sizes.entries()) {
      lives[index]?.push(await livesOf(size, kind, index === 2 ? 1 : REPEATS));
    }
  }
  for (const [index, size] of sizes.entries()) note(describe(kind, size, lives[index] ?? []));
  const [, medium, large] = sizes;
  const growthOf = (of: (life: Life) => number): number =>
    median((lives[2] ?? []).map((life, round) => of(life) / ofRound(lives[1]?.[round], of)));
  const more = large / medium;
  const resync = median((lives[2] ?? []).map(({ resyncMs, convergeMs }) => resyncMs / convergeMs));
  const plan = growthOf(({ planMs }) => planMs) / more;
  const converge = growthOf(({ convergeMs }) => convergeMs) / more;
  const change = growthOf(({ changeMs }) => changeMs);
  const size = String(large);
  const beside = `of ${String(medium)} keys`;
  return [
    atMost(`${kind}: plan a key of ${size}`, plan, beside, 1.5),
    atMost(`${kind}: converge a key of ${size}`, converge, beside, 1.5),
    atMost(`${kind}: ${String(CHANGED)} changed of ${size}`, change, beside, REACH_OF_CHANGES),
    atMost(`${kind}: resync of ${size}`, resync, "of converging them", 0.5),
  ];
}

/**
 * Snapshots of one account, from their bytes to the end of their transaction: the first one, which writes and plans everything, and
 * one that changes 100 connections, after which exactly those converge. What each connector costs is not to grow.
 */
export async function snapshots({ kind, sizes, rounds, note }: ReconcileContext): Promise<readonly Bar[]> {
  const [, medium, large] = sizes;
  const firsts: number[] = [];
  const changes: number[] = [];
  const largeMs: (readonly [first: number, change: number])[] = [];
  await snapshotsOf(medium, kind, REPEATS);
  for (let round = 0; round < rounds; round += 1) {
    const [first, change] = await snapshotsOf(medium, kind, REPEATS);
    const [firstOfLarge, changeOfLarge] = await snapshotsOf(large, kind, 1);
    largeMs.push([firstOfLarge, changeOfLarge]);
    firsts.push(firstOfLarge / first / (large / medium));
    changes.push(changeOfLarge / change / (large / medium));
  }
  const of = (index: 0 | 1): string => median(largeMs.map((each) => each[index])).toFixed(0);
  note(
    `${kind}: a snapshot of ${String(large)} takes ${of(0)} ms the first time, ${of(1)} ms with ${String(CHANGED)} changed`,
  );
  const beside = `of ${String(medium)} each`;
  return [
    atMost(`${kind}: first snapshot of ${String(large)}`, median(firsts), beside, 1.5),
    atMost(`${kind}: snapshot with ${String(CHANGED)} changed`, median(changes), beside, 1.5),
  ];
}

/** Means of several accounts, one after the other. */
async function snapshotsOf(
  size: number,
  kind: StoreKind,
  times: number,
): Promise<readonly [first: number, change: number]> {
  const accounts: FollowedAccount[] = [];
  const firsts: number[] = [];
  const changes: number[] = [];
  try {
    for (let i = 0; i < times; i += 1) {
      const account = await FollowedAccount.of(size, kind);
      accounts.push(account);
      firsts.push(await account.first());
      for (let again = 0; again < CHANGES; again += 1) changes.push(await account.change(CHANGED));
    }
  } finally {
    for (const account of accounts) await account.close();
  }
  return [mean(firsts), mean(changes)];
}

/** One key hangs for good: all the others converge, in about the time that they take without it. */
export async function oneStuck({ kind, sizes, rounds, note }: ReconcileContext): Promise<readonly Bar[]> {
  const [, , size] = sizes;
  const ratios: number[] = [];
  const stuckMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const freeMs = await convergeOnly(size, kind, false);
    const heldMs = await convergeOnly(size, kind, true);
    stuckMs.push(heldMs);
    ratios.push(heldMs / freeMs);
  }
  note(`${kind}: ${String(size - 1)} keys converge in ${median(stuckMs).toFixed(0)} ms beside one that is stuck`);
  return [atMost(`${kind}: ${String(size)} keys, one stuck`, median(ratios), "of none stuck", 1.5)];
}

/**
 * Several fleets, one after the other. Means, and not medians: the collector is at work in a few of the small fleets and in each
 * large one, and is part of what a key costs.
 */
async function livesOf(size: number, kind: StoreKind, times: number): Promise<Life> {
  const fleets: Fleet[] = [];
  const lives: Life[] = [];
  try {
    for (let i = 0; i < times; i += 1) {
      const fleet = await Fleet.of(size, kind);
      fleets.push(fleet);
      lives.push(await live(fleet));
    }
  } finally {
    // Not before: what the collector costs depends on how much there is.
    for (const fleet of fleets) await fleet.close();
  }
  return {
    planMs: mean(lives.map(({ planMs }) => planMs)),
    convergeMs: mean(lives.map(({ convergeMs }) => convergeMs)),
    changeMs: mean(lives.map(({ changeMs }) => changeMs)),
    resyncMs: mean(lives.map(({ resyncMs }) => resyncMs)),
  };
}

async function live(fleet: Fleet): Promise<Life> {
  const planMs = await fleet.plan();
  const convergeMs = await fleet.converge();
  const changes: number[] = [];
  for (let i = 0; i < CHANGES; i += 1) changes.push(await fleet.change(CHANGED, `changed ${String(i)}`));
  return { planMs, convergeMs, changeMs: median(changes), resyncMs: await fleet.resync() };
}

async function convergeOnly(size: number, kind: StoreKind, stuck: boolean): Promise<number> {
  const fleet = await Fleet.of(size, kind);
  try {
    if (stuck) fleet.stick();
    await fleet.plan();
    return await fleet.converge();
  } finally {
    await fleet.close();
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function ofRound(life: Life | undefined, of: (life: Life) => number): number {
  return life === undefined ? Number.NaN : of(life);
}

function describe(kind: StoreKind, size: number, lives: readonly Life[]): string {
  const us = (of: (life: Life) => number): string => ((median(lives.map(of)) / size) * 1_000).toFixed(1);
  const changeMs = median(lives.map((life) => life.changeMs)).toFixed(1);
  const resyncMs = median(lives.map((life) => life.resyncMs)).toFixed(1);
  return [
    `${kind}, ${String(size).padStart(5)} keys: ${us(({ planMs }) => planMs)} µs to plan a key`,
    `${us(({ convergeMs }) => convergeMs)} µs to converge one`,
    `${changeMs} ms for ${String(CHANGED)} changes`,
    `${resyncMs} ms for a resync`,
  ].join(", ");
}
