/** Every number that a row can have fits, so that ids are ordered as texts as their rows are by number. */
const LENGTH = 11;

/** The id of a row: ids of later rows are greater texts. */
export function encodeRowId(seq: number): string {
  return seq.toString(36).padStart(LENGTH, "0");
}

/** The number of a row by its id; `undefined` for a text that is none. */
export function decodeRowId(id: string): number | undefined {
  if (!/^[0-9a-z]{11}$/.test(id)) return undefined;
  const seq = Number.parseInt(id, 36);
  return Number.isSafeInteger(seq) ? seq : undefined;
}
