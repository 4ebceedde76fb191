/**
 * Plans the connectors that changed, in the transaction that changed them. `keys` is sorted and never empty. Awaits
 * nothing but `tx`. What it throws rolls everything back.
 */
export type ChangePlanner<Tx> = (tx: Tx, keys: readonly string[]) => void | Promise<void>;
