import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { rolldown } from "rolldown";

const VAULT = resolve(import.meta.dirname, "../../../../src/oauth/vault/index.ts");

/** The vault, in one file made of its present source, for programs of their own. */
export interface VaultPrograms {
  /** Runs a module that has what the vault exports as `vault`, its `args`, and `say(line)`. */
  start(body: string, ...args: readonly string[]): Promise<VaultProgram>;
  /** Like `start`, in a process that can't make a file longer than `blocks` of 512 bytes: its writes fail then. */
  startLimited(blocks: number, body: string, ...args: readonly string[]): Promise<VaultProgram>;
  remove(): Promise<void>;
}

/** A child process that says something line by line. */
export interface VaultProgram {
  /** Lines so far. */
  readonly lines: readonly string[];
  /** Resolves when it has said at least one line. */
  readonly ready: Promise<unknown>;
  send(text: string): void;
  /** Resolves with the signal that ended it, when its output was read. */
  readonly ended: Promise<NodeJS.Signals | null>;
}

const HEAD = `
  import * as vault from "./vault.mjs";
  const args = process.argv.slice(2);
  const say = (line) => new Promise((done) => process.stdout.write(String(line) + "\\n", done));
`;

export async function bundleVault(): Promise<VaultPrograms> {
  const directory = await mkdtemp(join(tmpdir(), "vault-programs-"));
  const bundle = await rolldown({
    input: VAULT,
    platform: "node",
    external: /^(?![./])/,
    // Of what the vault imports only what it uses: a program starts in no time.
    treeshake: { moduleSideEffects: false },
  });
  await bundle.write({ file: join(directory, "vault.mjs"), codeSplitting: false });
  await bundle.close();
  let programs = 0;
  const write = async (body: string): Promise<string> => {
    programs += 1;
    const file = join(directory, `program-${String(programs)}.mjs`);
    await writeFile(file, HEAD + body);
    return file;
  };
  return {
    start: async (body, ...args) => run(process.execPath, [await write(body), ...args]),
    startLimited: async (blocks, body, ...args) => {
      const limited = `trap '' XFSZ; ulimit -f ${String(blocks)}; exec "$0" "$@"`;
      return run("/bin/sh", ["-c", limited, process.execPath, await write(body), ...args]);
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** What a program said when it has ended by itself. */
export async function saidBy(program: Promise<VaultProgram>): Promise<readonly string[]> {
  const { ended, lines } = await program;
  await ended;
  return lines;
}

function run(command: string, args: readonly string[]): VaultProgram {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  const signal = once(child, "exit").then(() => child.signalCode);
  return {
    lines,
    ready: Promise.race([once(reader, "line"), signal]),
    send: (text) => void child.stdin.end(text),
    ended: Promise.all([signal, once(reader, "close")]).then(([ended]) => ended),
  };
}
