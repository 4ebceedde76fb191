import type { Said } from "./world.js";

/** What was found that must not be. */
export interface Finding {
  /** A word for the check. */
  readonly check: string;
  readonly says: string;
}

/** Takes a finding in. */
export type Find = (check: string, says: string) => void;

/** What a control plane said under an epoch and a revision; `undefined` for what it never said. */
export type Sayings = (account: string, epoch: string, revision: string) => Said | undefined;
