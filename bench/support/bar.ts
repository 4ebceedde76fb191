/** One figure, and what it is to reach. */
export interface Bar {
  readonly row: string;
  readonly figure: number;
  /** What the figure is of, such as `of undici`. */
  readonly unit: string;
  readonly reach: number;
  /** Whether more is better. */
  readonly atLeast: boolean;
}

/** What a row is run with. */
export interface RowContext {
  /** Where the server listens, without a path. */
  readonly origin: string;
  /** The server's usual endpoint. */
  readonly url: string;
  readonly quick: boolean;
}

/** Measures, checks the answers, and gives its bars. Rejects when something does not work. */
export type Row = (context: RowContext) => Promise<readonly Bar[]>;

/** A figure that is to be no less than `reach`. */
export function atLeast(row: string, figure: number, unit: string, reach: number): Bar {
  return { row, figure, unit, reach, atLeast: true };
}

/** A figure that is to be no more than `reach`. */
export function atMost(row: string, figure: number, unit: string, reach: number): Bar {
  return { row, figure, unit, reach, atLeast: false };
}

/** A figure that could not be measured reaches nothing. */
export function isReached({ figure, reach, atLeast: more }: Bar): boolean {
  return more ? figure >= reach : figure <= reach;
}

/** The bar in one line, such as `parameter headers: 0.83 of undici (reach 0.75)`. */
export function lineOf({ row, figure, unit, reach, atLeast: more }: Bar): string {
  return `${row}: ${figure.toFixed(2)} ${unit} (reach ${more ? "" : "at most "}${String(reach)})`;
}

/** Throws when an answer is not the one that was expected. */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)} in place of ${String(expected)}`);
}
