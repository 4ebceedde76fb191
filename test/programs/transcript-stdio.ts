/**
 * The server half of a conversation over stdio. `transcript-stdio record LOG ARGUMENT…` runs Node with the arguments, hands
 * every line on, and writes it to LOG. `transcript-stdio replay FILE LOG` says what the server said in the transcript FILE,
 * and writes what it hears to LOG. Each line of LOG is `[process, line]`; processes are counted by LOG itself.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Line, StdioTranscript } from "../transcripts/transcript.js";

const [mode = "", ...rest] = process.argv.slice(2);
if (mode === "record") record(rest[0] ?? "", rest.slice(1));
else if (mode === "replay") replay(rest[0] ?? "", rest[1] ?? "");
else throw new Error("transcript-stdio record LOG ARGUMENT… | replay FILE LOG");

function record(log: string, args: readonly string[]): void {
  const note = logger(log);
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  createInterface({ input: process.stdin })
    .on("line", (line) => {
      note({ client: JSON.parse(line) });
      child.stdin.write(`${line}\n`);
    })
    .on("close", () => child.stdin.end());
  createInterface({ input: child.stdout }).on("line", (line) => {
    note({ server: line });
    process.stdout.write(`${line}\n`);
  });
  child.on("close", (code) => process.exit(code ?? 1));
}

function replay(file: string, log: string): void {
  const transcript: StdioTranscript = JSON.parse(readFileSync(file, "utf8"));
  const started = count(log);
  const note = logger(log);
  const lines = (transcript.processes[started] ?? []).values();
  /** Says all that the server said up to what it heard next. */
  const speak = (): void => {
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      if ("client" in next.value) return;
      process.stdout.write(`${next.value.server}\n`);
    }
  };
  speak();
  createInterface({ input: process.stdin })
    .on("line", (line) => {
      note({ client: JSON.parse(line) });
      speak();
    })
    .on("close", () => process.exit(0));
}

/** Writes lines of this process, and that it was started. */
function logger(log: string): (line: Line) => void {
  const started = count(log);
  appendFileSync(log, `${JSON.stringify([started, null])}\n`);
  return (line) => appendFileSync(log, `${JSON.stringify([started, line])}\n`);
}

/** How many processes were started before. */
function count(log: string): number {
  if (!existsSync(log)) return 0;
  const entries = readFileSync(log, "utf8").trim().split("\n");
  return entries.filter((entry) => entry.endsWith(",null]")).length;
}
