import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { ROOT } from "../architecture/source-tree.js";

const execute = promisify(execFile);

const packReport = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);

/** The package as npm would publish it from what is built. */
export interface Tarball {
  readonly path: string;
  /** Paths inside the package. */
  readonly files: readonly string[];
}

/** A project that has installed the tarball, and of the registry's packages only those that it was given. */
export interface PackedProject {
  readonly folder: string;
  /** The folder of the installed package. */
  readonly installed: string;
  /** Runs a module in a process of its own, and answers with what it printed. One that fails rejects with its error line. */
  run(code: string): Promise<string>;
}

/** A folder for one test file, below the system's folder for such. */
export async function createTemporaryFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "remote-connector-package-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Packs the built package into `folder`, offline and without running its scripts. */
export async function packTarball(folder: string): Promise<Tarball> {
  const args = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", folder];
  const { stdout } = await execute("npm", args, { cwd: ROOT, shell: process.platform === "win32" });
  const [{ filename, files }] = packReport.parse(JSON.parse(stdout));
  return { path: join(folder, filename), files: files.map((file) => file.path).toSorted() };
}

/** Installs the tarball in a new project named `name`; `packages` are linked from this project's own. */
export async function installTarball(
  tarball: Tarball,
  name: string,
  packages: readonly string[],
): Promise<PackedProject> {
  const folder = join(dirname(tarball.path), name);
  const installed = join(folder, "node_modules", "remote-connector");
  await mkdir(installed, { recursive: true });
  await execute("tar", ["-xzf", tarball.path, "-C", installed, "--strip-components=1"]);
  for (const each of packages) {
    const link = join(folder, "node_modules", each);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, "node_modules", each), link, "junction");
  }
  return {
    folder,
    installed,
    run: async (code) => {
      const args = ["--input-type=module", "--eval", code];
      const running = execute(process.execPath, args, { cwd: folder });
      const { stdout } = await running.catch((error: unknown) => {
        const stderr = String(Reflect.get(Object(error), "stderr"));
        throw new Error(/^.*Error\b.*$/m.exec(stderr)?.[0] ?? stderr);
      });
      return stdout;
    },
  };
}
