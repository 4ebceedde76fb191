import type { Ending, KillOrder } from "./kill-points.js";
import type { Wish } from "./wishes.js";

/** How a host process is set up: its one argument, as JSON. */
export interface HostOrder {
  /** Where the host keeps its state. */
  readonly directory: string;
  readonly journal: string;
  readonly baseUrl: string;
  readonly keys: readonly string[];
  /** The one that needs no authorization. */
  readonly openKey: string;
  readonly seed: number;
  readonly life: number;
  /** The number of the last event that is in the journal. */
  readonly lastEvent: number;
  readonly clock: { readonly origin: number; readonly speed: number };
  readonly maxFileBytes: number | null;
  readonly sabotage: Sabotage | null;
  /** Where it dies if that is counted from its start. */
  readonly kill: KillOrder | null;
}

/** What a host process can be told to do wrong, to see that it is noticed. */
export const SABOTAGES = [
  /** Some rows that say what is desired are not written. */
  "drop_rows",
  /** Facts are committed first, and what was planned by them afterwards. */
  "split_commits",
  /** What was revoked is not fenced. */
  "no_fences",
  /** Some events are not read. */
  "skip_events",
  /** An epoch comes again. */
  "old_epochs",
  /** A connector is never reached. */
  "lose_key",
  /** What people want is said to be done, and is not. */
  "lose_wishes",
  /** The files can be read by everyone. */
  "open_files",
] as const;

export type Sabotage = (typeof SABOTAGES)[number];

/** What a host process is told to do while it lives. */
export type Command =
  | { readonly do: "sign_in"; readonly account: string }
  | { readonly do: "sign_out" }
  | { readonly do: "refresh" }
  /** Nobody waits for what comes of these two. */
  | { readonly do: "authorize" | "disconnect"; readonly key: string }
  | { readonly do: "flows" }
  /** Answered when it is so, and as `refused` when it may not be. */
  | ({ readonly do: "wish" } & Wish)
  | { readonly do: "catalog" }
  | { readonly do: "status" }
  | { readonly do: "bind" }
  | { readonly do: "arm"; readonly kill: KillOrder }
  /** Answered when all events so far are in the journal. */
  | { readonly do: "read_on" }
  | { readonly do: "close" };

/** Where a connector is, as the host's status has it. */
export interface StatusLine {
  readonly connectorKey: string;
  readonly state: string;
  readonly reason: string | undefined;
}

/** What it answers. */
export type Reply =
  | { readonly kind: "done" }
  | { readonly kind: "refused" }
  /** By key; a release that is being updated as `2.0.0 before 1.0.0`. */
  | { readonly kind: "catalog"; readonly found: Readonly<Record<string, string>> }
  | { readonly kind: "status"; readonly status: readonly StatusLine[] }
  | { readonly kind: "flows"; readonly states: readonly string[] }
  | { readonly kind: "bound"; readonly url: string; readonly headers: { readonly Authorization: string } };

export interface CommandMessage {
  readonly id: number;
  readonly command: Command;
}

/** The first message has the id 0: the host is ready. */
export interface ReplyMessage {
  readonly id: number;
  readonly reply: Reply;
}

/** The order of an ending that counts from the start. */
export function killFromStart(ending: Ending | undefined): KillOrder | null {
  return ending?.by === "point" && ending.from === "start" ? { point: ending.point, nth: ending.nth } : null;
}
