import { z } from "zod";

const times = z.int().min(1).max(1_000_000).default(1);
const connectorId = z.string().min(1).optional();

/** What can be made to go wrong, as the admin side reads it. A fault without `connectorId` is for any connector. */
export const faultShape = z.discriminatedUnion("kind", [
  /** Answers with a status and no body. */
  z.strictObject({ kind: z.literal("status"), status: z.int().min(300).max(599), connectorId, times }),
  /** Waits before it goes on. */
  z.strictObject({ kind: z.literal("delay"), ms: z.int().min(1).max(3_600_000), connectorId, times }),
  /** Ends the connection without an answer. */
  z.strictObject({ kind: z.literal("drop_connection"), connectorId, times }),
]);

export type Fault = z.infer<typeof faultShape>;

/** The faults that wait for a request. Each request meets at most one, the oldest that is meant for it. */
export class FaultBook {
  #faults: Fault[] = [];

  add(fault: Fault): void {
    this.#faults.push(fault);
  }

  clear(): void {
    this.#faults = [];
  }

  /** Those that are left, with the times that they are left for. */
  list(): readonly Fault[] {
    return this.#faults;
  }

  /** The fault that a request to this connector meets now; it is counted. */
  take(connector: string): Fault | undefined {
    const index = this.#faults.findIndex((fault) => fault.connectorId === undefined || fault.connectorId === connector);
    const fault = this.#faults[index];
    if (fault === undefined) return undefined;
    const left = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : [];
    this.#faults = this.#faults.toSpliced(index, 1, ...left);
    return fault;
  }
}
