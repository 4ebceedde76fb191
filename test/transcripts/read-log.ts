import { readFileSync } from "node:fs";
import type { Line } from "./transcript.js";

/** What `transcript-stdio` wrote: the lines of each process. */
export function readLog(path: string): readonly (readonly Line[])[] {
  const processes: Line[][] = [];
  for (const text of readFileSync(path, "utf8").trim().split("\n")) {
    const [index, line]: [number, Line | null] = JSON.parse(text);
    const lines = (processes[index] ??= []);
    if (line !== null) lines.push(line);
  }
  return processes;
}
