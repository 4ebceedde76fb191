import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { RemoteConnectorError } from "../../errors.js";
import type { Credential, CredentialKey } from "../ports.js";
import { entryFileName, entryFilePrefix, isEntryFile, readEntry, writeEntry } from "./entry-file.js";
import type { FileLock } from "./file-lock.js";
import type { Lease, Leases } from "./lease-rules.js";
import { readPrivateFile, removeFile, replaceWhole, unusable } from "./private-files.js";
import { randomName } from "./random-bytes.js";
import type { FileStoreConfig } from "./vault-options.js";
import type { DamagedCredential, VaultRows } from "./vault-rows.js";

const FORMAT = 1;
const COUNTER_FILE = "store.json";
const NEVER_WRITTEN = JSON.stringify({ format: FORMAT, generation: 0 });
const LEASE_FILE = "leases.json";
/** Nobody works on a file of a moment for as long as this. */
const LEFT_BEHIND_AFTER_MS = 60_000;

/** Rows as files of one directory. Every change asks the lock at the last moment whether it is still held. */
export class FileRows implements VaultRows {
  readonly #config: FileStoreConfig;
  readonly #lock: FileLock;

  constructor(config: FileStoreConfig, lock: FileLock) {
    this.#config = config;
    this.#lock = lock;
  }

  get(key: CredentialKey): Credential | DamagedCredential | undefined {
    return this.#read(entryFileName(key), key);
  }

  list(resource: string): readonly Credential[] {
    const prefix = entryFilePrefix(resource);
    return this.#entryFiles()
      .filter((name) => name.startsWith(prefix))
      .flatMap((name) => {
        const entry = this.#read(name);
        return entry === undefined || "kind" in entry ? [] : [entry];
      });
  }

  count(): number {
    return this.#entryFiles().length;
  }

  put(credential: Credential): void {
    this.#replace(entryFileName(credential), writeEntry(credential, this.#config.key));
  }

  remove(key: CredentialKey): void {
    this.#lock.assertHeld();
    removeFile(this.#pathOf(entryFileName(key)));
  }

  /** Written before it is used: a process that is killed leaves a gap, and no number twice. */
  nextGeneration(): number {
    const generation = this.lastGeneration() + 1;
    this.#replace(COUNTER_FILE, JSON.stringify({ format: FORMAT, generation }));
    return generation;
  }

  /** Throws `store_newer_format`, and `store_unavailable` for a counter that was damaged, or lost beside entries. */
  lastGeneration(): number {
    const path = this.#pathOf(COUNTER_FILE);
    // It is written before any entry: asked for again, in case that both were written just now.
    const text = readPrivateFile(path) ?? (this.count() > 0 ? readPrivateFile(path) : NEVER_WRITTEN);
    if (text === undefined) throw unusable(path, "missing");
    const { format, generation } = parseObject(text);
    if (Number.isSafeInteger(format) && Number(format) > FORMAT) throw newerFormat(path, Number(format));
    const isCount = typeof generation === "number" && Number.isSafeInteger(generation) && generation >= 0;
    if (format !== FORMAT || !isCount) throw unusable(path, "damaged");
    return generation;
  }

  /** Leases that can't be read are gone: they keep nobody from comparing and setting. */
  leases(): Leases {
    const leases = new Map<string, Lease>();
    const { leases: rows } = parseObject(readPrivateFile(this.#pathOf(LEASE_FILE)) ?? "");
    for (const row of Array.isArray(rows) ? rows : []) {
      const { name, holder, grantedAt, until }: Record<string, unknown> = Object(row);
      if (typeof name !== "string" || typeof holder !== "string") continue;
      if (typeof grantedAt === "number" && typeof until === "number") leases.set(name, { holder, grantedAt, until });
    }
    return leases;
  }

  keepLeases(leases: Leases): void {
    const rows = [...leases].map(([name, lease]) => ({ name, ...lease }));
    this.#replace(LEASE_FILE, JSON.stringify({ format: FORMAT, leases: rows }));
  }

  /** Removes what processes left behind that were killed. */
  tidy(): void {
    for (const name of readdirSync(this.#config.directory)) {
      if (!name.endsWith(".tmp") && !name.startsWith("lock.")) continue;
      const path = this.#pathOf(name);
      const age = this.#config.wallNow() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (age >= LEFT_BEHIND_AFTER_MS) rmSync(path, { force: true });
    }
  }

  #read(fileName: string, key?: CredentialKey): Credential | DamagedCredential | undefined {
    const text = readPrivateFile(this.#pathOf(fileName));
    return text === undefined ? undefined : readEntry(text, fileName, this.#config.key, key);
  }

  #replace(fileName: string, text: string): void {
    const path = this.#pathOf(fileName);
    const temporary = `${path}.${randomName(this.#config.randomBytes)}.tmp`;
    replaceWhole(path, text, temporary, () => this.#lock.assertHeld());
  }

  #entryFiles(): readonly string[] {
    return readdirSync(this.#config.directory).filter(isEntryFile);
  }

  #pathOf(fileName: string): string {
    return join(this.#config.directory, fileName);
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function newerFormat(path: string, found: number): RemoteConnectorError<"store_newer_format"> {
  return new RemoteConnectorError("store_newer_format", {
    message: `The store has format ${String(found)}, and this version knows ${String(FORMAT)}.`,
    details: { path, found, known: FORMAT },
  });
}
