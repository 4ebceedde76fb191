import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { RemoteConnectorError } from "../../errors.js";
import {
  loadRegistrations,
  type LoadedRegistrations,
  type Registration,
  registrationFileName,
  type RegistrationPolicy,
  type StoredFile,
  writeRegistration,
} from "../registration/index.js";
import type { RegistrationStore } from "./registration-store.js";

const FOLDER = "registrations";
const FILE = ".json";
/** What a write leaves behind that was killed in the middle. */
const UNFINISHED = ".unfinished";
/** The largest that is read. The largest that is written is smaller. */
const MAX_FILE_BYTES = 12 * 1024 * 1024;
const NO_FILE = "no regular file";
/** Follows no link, and waits for nobody at the other end of a pipe. Where there are no such flags, there is neither. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Registrations as files, `registrations/<id>.json` in a state directory that is there: for their owner only (0700, 0600). A file
 * is replaced in one step, after its bytes are on the disk: a process that is killed leaves the old one or the new one. The folder
 * is made with the first of them.
 *
 * One file that can't be read, or is none but a link or a pipe, is an issue, and the rest load. Every method rejects with `store_full` or `store_unavailable`; nothing
 * was written then.
 */
export class RegistrationFiles implements RegistrationStore {
  readonly #directory: string;
  /** The end of the last write: they follow each other. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, FOLDER);
  }

  async load(policy: RegistrationPolicy = {}): Promise<LoadedRegistrations> {
    const files = await this.#inTurn(async () => {
      const found: StoredFile[] = [];
      for (const name of await namesIn(this.#directory)) {
        // What can't be taken away is in nobody's way.
        if (name.endsWith(UNFINISHED)) await rm(join(this.#directory, name), { force: true }).catch(ignore);
        else if (name.endsWith(FILE)) found.push(await read(this.#directory, name));
      }
      return found;
    });
    return loadRegistrations(files, policy);
  }

  async put(registration: Registration): Promise<void> {
    const text = writeRegistration(registration);
    await this.#inTurn(async () => {
      await makeFolder(this.#directory);
      const path = join(this.#directory, registrationFileName(registration));
      const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
      try {
        await writeDurably(unfinished, text);
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      await synchronize(this.#directory);
    });
  }

  async remove(registration: Pick<Registration, "id">): Promise<void> {
    await this.#inTurn(async () => {
      await makeFolder(this.#directory);
      await rm(join(this.#directory, registrationFileName(registration)), { force: true });
      await synchronize(this.#directory);
    });
  }

  /** Runs `work` after all that was begun before. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#written.then(async () => {
      try {
        return await work();
      } catch (error) {
        throw storeError(this.#directory, error);
      }
    });
    this.#written = done.catch(ignore);
    return done;
  }
}

async function makeFolder(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    await shutOut(directory);
  }
}

/** Leaves the folder to its owner: whoever writes there says where secrets are sent. */
async function shutOut(directory: string): Promise<void> {
  const { mode } = await stat(directory);
  if ((mode & 0o077) !== 0) await chmod(directory, 0o700);
}

/** What is in a folder: nothing, before anything was kept in it. */
async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    await shutOut(directory);
    return await readdir(directory);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return [];
  }
}

async function read(directory: string, file: string): Promise<StoredFile> {
  try {
    const handle = await open(join(directory, file), READ_ONLY);
    try {
      const opened = await handle.stat();
      if (!opened.isFile()) return { file, failure: NO_FILE };
      if (opened.size > MAX_FILE_BYTES) return { file, failure: "larger than 12 MiB" };
      return { file, text: await handle.readFile("utf8") };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = codeOf(error) ?? "unknown";
    return { file, failure: code === "ELOOP" ? NO_FILE : `can't be read (${code})` };
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text, "utf8");
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Has the folder's names on the disk. Where folders can't be opened, such as on Windows, that is the system's to do. */
async function synchronize(directory: string): Promise<void> {
  try {
    const folder = await open(directory, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!UNSUPPORTED.has(codeOf(error) ?? "")) throw error;
  }
}

const UNSUPPORTED: ReadonlySet<string> = new Set(["EACCES", "EISDIR", "EINVAL", "ENOTSUP", "EPERM"]);
const FULL: ReadonlySet<string> = new Set(["EDQUOT", "ENOSPC"]);

function storeError(path: string, error: unknown): RemoteConnectorError {
  const code = codeOf(error);
  if (code !== undefined && FULL.has(code)) {
    const message = `The disk of ${path} is full.`;
    return new RemoteConnectorError("store_full", { message, details: { path }, cause: error });
  }
  const reason = code ?? "unknown";
  const message = `${path} can't be used: ${reason}.`;
  return new RemoteConnectorError("store_unavailable", { message, details: { path, reason }, cause: error });
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}

function ignore(): void {
  // Whoever asked hears of it.
}
