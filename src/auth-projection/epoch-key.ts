/**
 * The stored form of a snapshot's epoch: `"="` and the epoch, or `"-"` for none.
 *
 * No epoch is an epoch like any other, and an empty one is not the same as none. In this form all of them compare with
 * `===`, in JSON, and in a column that is never null.
 */
export function epochKey(epoch: string | undefined): string {
  return epoch === undefined ? "-" : `=${epoch}`;
}
