import { Chance } from "./chance.js";

/** Where a host can be told to kill itself, and how often it mostly comes there in one life. */
const POINTS = {
  /** A write transaction has begun. */
  begin: 45,
  /** A row is read in it. */
  get: 160,
  /** A number is taken in it: a fetch is counted, or a generation given out. */
  number: 40,
  /** A row of the account's authorization is written in it. */
  apply: 12,
  /** An observation is written in it. */
  observe: 1,
  /** What is desired is written in it. */
  plan: 8,
  /** What came of a run is written in it. */
  converge: 40,
  /** An event is recorded in it. */
  record: 30,
  /** An authorization flow is written in it. */
  flow: 2,
  /** A release or a switch is written in it. */
  keep: 3,
  /** The file of a registration is about to be written or removed, and was. */
  file: 6,
  /** Something is about to be switched, installed or registered, and was. */
  wish: 20,
  /** All of its work is done, and nothing is committed. */
  done: 45,
  /** At some moment of the commit, and shortly after. */
  commit: 45,
  /** It is committed, and nobody was told. */
  committed: 60,
  /** Some of those who wait for its end were told. */
  settling: 120,
  /** All of them were told; its promise is not resolved yet. */
  settled: 60,
  returned: 60,
  /** Rows are read outside of a write. */
  read: 16,
  sign_in: 2,
  signed_in: 2,
  /** Credentials are asked for. */
  authorize: 15,
  /** A client is made, and has answered. */
  activate: 10,
  activated: 20,
  published: 8,
  withdrawn: 5,
  /** An event was given out, and is not in the reader's log; and is. */
  event: 80,
  heard: 80,
} as const;

export type KillPoint = keyof typeof POINTS;

export const KILL_POINTS: readonly KillPoint[] = Object.keys(POINTS).filter(isKillPoint);

/** Aimed at more often than the others: there a transaction is open. */
const INSIDE: readonly KillPoint[] = [
  "begin",
  "get",
  "number",
  "apply",
  "observe",
  "plan",
  "converge",
  "record",
  "keep",
  "done",
  "commit",
];

/** At the `nth` time that the host comes to `point`, it kills itself. */
export interface KillOrder {
  readonly point: KillPoint;
  readonly nth: number;
}

/** How one life of a host ends. */
export type Ending =
  | (KillOrder & {
      readonly by: "point";
      /** Counting begins with the process, or when it has converged. */
      readonly from: "start" | "converged";
    })
  /** By its parent, so long after it has converged or, for a negative number, after its start. Not at the same place again. */
  | { readonly by: "time"; readonly ms: number };

const INSIDE_TIMES = 8;
const BY_TIME = 10;

/** How the lives from `first` on end. All kinds come in turn; where in a life is by chance. */
export function planEndings(seed: number, first: number, count: number): readonly Ending[] {
  const times = (point: KillPoint): number => (INSIDE.includes(point) ? INSIDE_TIMES : 1);
  const points = KILL_POINTS.flatMap((point) => Array.from({ length: times(point) }, () => point));
  const turns: readonly (KillPoint | "time")[] = new Chance("turns", seed).shuffle([
    ...points,
    ...Array.from({ length: BY_TIME }, () => "time" as const),
  ]);
  return Array.from({ length: count }, (_, index) => {
    const number = first + index;
    return endingOf(turns[number % turns.length] ?? "time", new Chance("ending", seed, number));
  });
}

function endingOf(turn: KillPoint | "time", chance: Chance): Ending {
  const early = chance.next() < 0.25;
  if (turn === "time") return { by: "time", ms: early ? -150 - chance.below(250) : chance.below(250) };
  return { by: "point", point: turn, nth: 1 + chance.below(POINTS[turn]), from: early ? "start" : "converged" };
}

/** Counts how often a host comes to each point. */
export class Trigger {
  readonly #kill: (order: KillOrder) => void;
  #order: KillOrder | undefined;
  #count = 0;

  constructor(kill: (order: KillOrder) => void) {
    this.#kill = kill;
  }

  /** Begins to count. */
  arm(order: KillOrder): void {
    this.#order = order;
    this.#count = 0;
  }

  readonly at = (point: KillPoint): void => {
    const order = this.#order;
    if (order?.point !== point) return;
    this.#count += 1;
    if (this.#count === order.nth) this.#kill(order);
  };
}

function isKillPoint(name: string): name is KillPoint {
  return Object.hasOwn(POINTS, name);
}
