import { z } from "zod";

/** For whom a fault is, and how often. Left out, `accountId` and `connectorId` mean any. */
const aim = {
  accountId: z.string().min(1).optional(),
  connectorId: z.string().min(1).optional(),
  times: z.int().min(1).max(1_000_000).default(1),
};

const places = ["any", "callback", "connector", "hints", "sessions", "snapshot"] as const;

/** Which requests meet it. Default `connector`: MCP requests. `sessions` includes the end of an authorization. */
const on = z.enum(places).optional();

/** What can be made to go wrong, as the admin side reads it. */
export const faultShape = z.discriminatedUnion("kind", [
  /** Answers with a status and no body. */
  z.strictObject({ kind: z.literal("status"), status: z.int().min(300).max(599), on, ...aim }),
  /** Waits before it goes on. */
  z.strictObject({ kind: z.literal("delay"), ms: z.int().min(1).max(3_600_000), on, ...aim }),
  /** Ends the connection without an answer. */
  z.strictObject({ kind: z.literal("drop_connection"), on, ...aim }),
  /**
   * Answers like a network that wants a login first: 200 with a page, or 302 to `location`. Met before any check, and on every
   * path unless `on` says otherwise.
   */
  z.strictObject({
    kind: z.literal("captive_portal"),
    location: z
      .string()
      .regex(/^[!-~]{1,2048}$/)
      .optional(),
    on,
    ...aim,
  }),
  /** Answers a snapshot request with 200 and this text. Default JSON that ends too early. */
  z.strictObject({ kind: z.literal("malformed_snapshot"), body: z.string().max(65_536).optional(), ...aim }),
  /** Answers a snapshot request with how the account was so many revisions before; as it is, when that is not remembered. */
  z.strictObject({ kind: z.literal("stale_snapshot"), revisionsBack: z.int().min(1).max(1_000).optional(), ...aim }),
  /** A hint is not sent. */
  z.strictObject({ kind: z.literal("suppress_hint"), ...aim }),
  /** In place of a hint the account's hint connections end, without a word. */
  z.strictObject({ kind: z.literal("drop_hint_connection"), ...aim }),
]);

export type Fault = z.output<typeof faultShape>;

/** A {@link Fault} as it is written: `times` may be left out, and is 1 then. */
export type GatewayFault = z.input<typeof faultShape>;

/** Where a request goes, as far as faults care. */
export type FaultPlace = (typeof places)[number];

/** What could go wrong now. Ids are absent where they aren't known, and then only a fault for any is met. */
export interface FaultTarget {
  readonly accountId?: string | undefined;
  readonly connectorId?: string | undefined;
}

/** A fault that is the answer to a request, or comes before it. */
export type RequestFault = Extract<Fault, { readonly kind: "captive_portal" | "delay" | "drop_connection" | "status" }>;
export type SnapshotFault = Extract<Fault, { readonly kind: "malformed_snapshot" | "stale_snapshot" }>;
export type HintFault = Extract<Fault, { readonly kind: "drop_hint_connection" | "suppress_hint" }>;

/** The faults that wait for something to meet. Whatever comes meets at most one of each sort, the oldest that is meant for it. */
export class FaultBook {
  #faults: readonly Fault[] = [];

  add(fault: Fault): void {
    this.#faults = [...this.#faults, fault];
  }

  clear(): void {
    this.#faults = [];
  }

  /** Those that are left, with the times that they are left for. */
  list(): readonly Fault[] {
    return this.#faults;
  }

  /** The portal that a request meets before anything of it is looked at; it is counted. */
  takePortal(place: FaultPlace, target: FaultTarget): RequestFault | undefined {
    return this.#take((fault): fault is RequestFault => fault.kind === "captive_portal" && isAt(fault, place), target);
  }

  /** The fault that a request meets once it is known whose it is; it is counted. */
  takeRequest(place: FaultPlace, target: FaultTarget): RequestFault | undefined {
    return this.#take((fault): fault is RequestFault => isRequestFault(fault) && isAt(fault, place), target);
  }

  /** What is wrong with the snapshot that an account gets now; it is counted. */
  takeSnapshot(target: FaultTarget): SnapshotFault | undefined {
    return this.#take(
      (fault): fault is SnapshotFault => fault.kind === "malformed_snapshot" || fault.kind === "stale_snapshot",
      target,
    );
  }

  /** What happens in place of a hint; it is counted. */
  takeHint(target: FaultTarget): HintFault | undefined {
    return this.#take(
      (fault): fault is HintFault => fault.kind === "suppress_hint" || fault.kind === "drop_hint_connection",
      target,
    );
  }

  #take<F extends Fault>(isMeant: (fault: Fault) => fault is F, target: FaultTarget): F | undefined {
    for (const [index, fault] of this.#faults.entries()) {
      if (!isMeant(fault) || !isFor(fault, target)) continue;
      const left = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : [];
      this.#faults = this.#faults.toSpliced(index, 1, ...left);
      return fault;
    }
    return undefined;
  }
}

function isRequestFault(fault: Fault): fault is RequestFault {
  return fault.kind === "delay" || fault.kind === "drop_connection" || fault.kind === "status";
}

function isAt({ kind, on: where }: RequestFault, place: FaultPlace): boolean {
  const meant = where ?? (kind === "captive_portal" ? "any" : "connector");
  return meant === "any" || meant === place;
}

function isFor(fault: Fault, { accountId, connectorId }: FaultTarget): boolean {
  return (
    (fault.accountId === undefined || fault.accountId === accountId) &&
    (fault.connectorId === undefined || fault.connectorId === connectorId)
  );
}
