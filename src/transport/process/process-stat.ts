/** What is needed of a line of `/proc/<pid>/stat`. */
export interface ProcessStat {
  /** The id of its process group. */
  readonly group: number;
  /** It ended and waits to be collected. */
  readonly hasEnded: boolean;
}

/**
 * Reads the text of `/proc/<pid>/stat`; `undefined` when it has another form. Pure. Source: proc(5).
 *
 * The second field is the program's name in parentheses, which may hold anything, parentheses and spaces included.
 */
export function readProcessStat(text: string): ProcessStat | undefined {
  const [, state, , group] = /\) ([A-Za-z]) (-?\d+) (-?\d+) /.exec(text.slice(text.lastIndexOf(")"))) ?? [];
  if (state === undefined || group === undefined) return undefined;
  return { group: Number(group), hasEnded: state === "Z" || state === "X" || state === "x" };
}
