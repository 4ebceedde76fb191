import type { CloseBound } from "./close-bound.js";
import type { HostParts } from "./host-parts.js";

/** What of a host stops accepting, then lets what runs be answered, and cuts the rest. Called again, the earlier end counts. */
export interface Closable {
  close(closeTimeoutMs?: number): Promise<void>;
}

/** A host that is to end. */
export interface EndingHost {
  readonly parts: HostParts;
  readonly bound: CloseBound;
  /** Everything by which people and agents reach it, but for the local server. */
  readonly outside: readonly (Closable | undefined)[];
  readonly server: (Closable & { settleHeld(): Promise<void> }) | undefined;
  /** Ends what is published, and what runs under it, at once. */
  readonly fenceAll: () => void;
  /** The endings of sessions of accounts, those included that `fenceAll` begins. */
  readonly endings: ReadonlySet<Promise<void>>;
}

/** By when the steps of closing are over, as shares of its whole time: a program that ignores its end needs most of it. */
const ANSWERED_BY = 0.4;
const ENDED_BY = 0.8;
const WRITTEN_BY = 0.9;

/** From the outside in, each step after the one before. Never rejects: what is given up is logged. */
export async function shutDown({ parts, bound, outside, server, fenceAll, endings }: EndingHost): Promise<void> {
  const { device, housekeeping, controller, routes, memory, journal, store } = parts;
  const closeOutside = (closeTimeoutMs?: number): Promise<unknown> =>
    Promise.all(outside.map(async (each) => each?.close(closeTimeoutMs)));
  const closing = { sockets: closeOutside(), server: server?.close() };
  fenceAll();
  const served = { ...closing, held: server?.settleHeld() };
  await bound.wait({ stage: "answers", parts: served, until: ANSWERED_BY, isForCalls: true });
  // Whoever has not read an answer by now gets none.
  void closeOutside(0);
  void server?.close(0);
  const ended = {
    runs: controller.close(),
    programs: device.close(),
    routes: routes.close(bound.leftMs(ENDED_BY)),
    housekeeping: housekeeping.close(),
    sessions: Promise.all(endings),
  };
  await bound.wait({ stage: "routes", parts: ended, until: ENDED_BY });
  memory.close();
  await bound.wait({ stage: "journal", parts: { journal: journal?.close() }, until: WRITTEN_BY });
  await bound.wait({ stage: "store", parts: { store: store.close() }, until: 1 });
}
