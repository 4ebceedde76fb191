import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRegistration, registrationFileName } from "remote-connector/connector-host";
import { openSqliteStore } from "remote-connector/store";
import type { Rows } from "./committed-rows.js";
import type { Finding } from "./finding.js";
import { plain, rowName } from "./journal.js";
import { ACCOUNTS } from "./world.js";

/** What a host left. */
export interface StateFile {
  readonly rows: Rows;
  /** How large the file is with everything in it. */
  readonly bytes: number;
}

const FILE = "host.db";
/** All kinds of documents that hosts keep. */
const DOCUMENT_KINDS = ["binding", "catalog", "host", "release", "rules", "switch"];
const FOLDER = "registrations";
const DEVICE = "device";

/** More than a host keeps. */
const MOST_EVENTS = 100_000;

/**
 * All rows of a host's file, which is left as it is: a copy is read. None when its process was ended before it made one. Rejects
 * when one can't be read.
 */
export async function readRows(directory: string): Promise<StateFile> {
  if (!existsSync(directory)) return { rows: new Map(), bytes: 0 };
  const copy = await mkdtemp(join(tmpdir(), "chaos-copy-"));
  try {
    for (const file of await readdir(directory)) {
      if (file !== FOLDER) await copyFile(join(directory, file), join(copy, file));
    }
    const store = await openSqliteStore({ directory: copy });
    const rows = new Map<string, unknown>();
    try {
      await store.read(async (tx) => {
        for (const account of ACCOUNTS) {
          const own = await tx.projections.account(account);
          if (own !== undefined) rows.set(rowName("account", account), plain(own));
          for (const row of await tx.projections.list(account)) {
            rows.set(rowName("projection", account, row.connectorKey), plain(row));
          }
          for (const row of await tx.overlays.list(account)) {
            rows.set(rowName("overlay", account, row.connectorKey), plain(row));
          }
          for (const row of await tx.flows.list(account)) {
            rows.set(rowName("flow", account, row.clientRequestId), plain(row));
          }
          const scope = `account:${account}`;
          for (const row of await tx.convergence.listScope(scope)) {
            rows.set(rowName("convergence", scope, row.key), plain(row));
          }
        }
        for (const kind of DOCUMENT_KINDS) {
          for (const row of await tx.documents.list(kind)) rows.set(rowName("document", kind, row.key), plain(row));
        }
        for (const row of await tx.convergence.listScope(DEVICE)) {
          rows.set(rowName("convergence", DEVICE, row.key), plain(row));
        }
        for (const row of await tx.events.list(0, MOST_EVENTS)) rows.set(rowName("event", String(row.seq)), plain(row));
      });
    } finally {
      await store.close();
    }
    return { rows, bytes: (await stat(join(copy, FILE))).size };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** What may lie in a state directory: the file, and what SQLite has beside it. */
const KNOWN = /^host\.db(-wal|-journal)?$/;

/** Looks for what must not be left: other files, and files and folders that others may read. */
export async function checkDirectory(directory: string, isClosed: boolean): Promise<readonly Finding[]> {
  if (!existsSync(directory)) return [];
  const found: string[] = [];
  if (((await stat(directory)).mode & 0o777) !== 0o700) found.push("the folder has other permissions than 0700");
  for (const file of await readdir(directory)) {
    if (file === FOLDER) continue;
    if (isClosed ? file !== FILE : !KNOWN.test(file)) found.push(`${file} is left behind`);
    if (((await stat(join(directory, file))).mode & 0o777) !== 0o600)
      found.push(`${file} has other permissions than 0600`);
  }
  if (existsSync(join(directory, FOLDER))) found.push(...(await checkRegistrations(join(directory, FOLDER), isClosed)));
  return found.map((says) => ({ check: "leftovers", says }));
}

/** Each file is a registration, as a whole; a write that was not finished is what the next process takes away. */
async function checkRegistrations(folder: string, isClosed: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  if (((await stat(folder)).mode & 0o777) !== 0o700) found.push(`${FOLDER} has other permissions than 0700`);
  const files = await readdir(folder);
  for (const file of files) {
    const path = join(folder, file);
    if (((await stat(path)).mode & 0o777) !== 0o600) found.push(`${file} has other permissions than 0600`);
    if (file.endsWith(".unfinished") && !isClosed) continue;
    try {
      const registration = readRegistration(await readFile(path, "utf8"));
      if (registrationFileName(registration) !== file) found.push(`${file} is another registration`);
    } catch (error) {
      found.push(`${file} is no registration: ${String(error)}`);
    }
  }
  if (files.filter((file) => file.endsWith(".json")).length > 1)
    found.push("there are several registrations of one slug");
  return found;
}
