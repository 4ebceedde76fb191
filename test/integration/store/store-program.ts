import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const ROOT = resolve(import.meta.dirname, "../../..");

/** The store, compiled from its present source, for programs of their own. */
export interface CompiledStore {
  /** Runs a module that has `openSqliteStore`, `openSharedStore` and `args`, as a child process. */
  start(body: string, ...args: readonly string[]): Promise<StoreProgram>;
  /** Like `start`, in a process that can't make a file longer than `blocks` of 512 bytes: its writes fail then. */
  startLimited(blocks: number, body: string, ...args: readonly string[]): Promise<StoreProgram>;
  remove(): Promise<void>;
}

/** A child process that says something line by line. */
export interface StoreProgram {
  readonly process: ChildProcess;
  /** Lines of its standard output so far. */
  readonly lines: readonly string[];
  /** Resolves when it has said at least `count` lines, or has ended. */
  heard(count: number): Promise<void>;
  /** Resolves when it has ended and its output was read. */
  readonly ended: Promise<void>;
}

/** `besides`: sources that programs import besides the store, by their path below `src`. */
export async function compileStore(besides: readonly string[] = []): Promise<CompiledStore> {
  const directory = await mkdtemp(join(tmpdir(), "store-program-"));
  const output = join(directory, "out");
  const project = join(directory, "tsconfig.json");
  await writeFile(
    project,
    JSON.stringify({
      extends: join(ROOT, "tsconfig.build.json"),
      // Types are another gate's matter: what is written counts.
      compilerOptions: {
        rootDir: join(ROOT, "src"),
        outDir: output,
        declaration: false,
        emitDeclarationOnly: false,
        noCheck: true,
      },
      files: ["store/index.ts", ...besides].map((file) => join(ROOT, "src", file)),
      include: [],
    }),
  );
  await new Promise<void>((done) => {
    execFile(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", project], () => done());
  });
  const entry = join(output, "store/index.js");
  if (!existsSync(entry)) throw new Error("The store could not be compiled.");
  await writeFile(join(output, "package.json"), JSON.stringify({ type: "module" }));
  await symlink(join(ROOT, "node_modules"), join(output, "node_modules"), "dir");
  let programs = 0;
  const write = async (body: string): Promise<string> => {
    programs += 1;
    const file = join(output, `program-${String(programs)}.mjs`);
    const head = `import { openSharedStore, openSqliteStore } from ${JSON.stringify(pathToFileURL(entry).href)};\nconst args = process.argv.slice(2);\n`;
    await writeFile(file, head + body);
    return file;
  };
  return {
    async start(body, ...args) {
      return follow(spawn(process.execPath, [await write(body), ...args], { stdio: ["pipe", "pipe", "inherit"] }));
    },
    async startLimited(blocks, body, ...args) {
      const limited = `trap '' XFSZ; ulimit -f ${String(blocks)}; exec "$0" "$@"`;
      const command = ["-c", limited, process.execPath, await write(body), ...args];
      return follow(spawn("/bin/sh", command, { stdio: ["pipe", "pipe", "inherit"] }));
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

function follow(child: ChildProcess): StoreProgram {
  const lines: string[] = [];
  const { stdout } = child;
  if (stdout === null) throw new Error("The program has no output.");
  const reader = createInterface({ input: stdout });
  reader.on("line", (line) => lines.push(line));
  const ended = Promise.all([once(child, "exit"), once(reader, "close")]).then(() => undefined);
  return {
    process: child,
    lines,
    ended,
    async heard(count) {
      const state = { over: false };
      const end = ended.then(() => {
        state.over = true;
      });
      while (lines.length < count && !state.over) await Promise.race([once(reader, "line"), end]);
    },
  };
}
