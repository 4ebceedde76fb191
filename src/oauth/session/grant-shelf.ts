import { findToReplace } from "../find-to-replace.js";
import type { GrantRecord } from "../grant-record.js";
import type { Credential, CredentialKey, CredentialStore } from "../ports.js";
import { parseGrant, printGrant } from "./record-codec.js";

/** A record as it is stored. */
export interface StoredGrant {
  readonly record: GrantRecord;
  readonly generation: number;
  /** Unix time in milliseconds. */
  readonly writtenAt: number;
}

/** What became of a write. `conflict`: nothing was written, and this is what is there instead. */
export type ShelfWrite =
  | { readonly kind: "written"; readonly grant: StoredGrant }
  | { readonly kind: "conflict"; readonly current: StoredGrant | undefined };

const PREFIX = "tokens@";

/** Where an account's credential is. */
export function grantKey(endpoint: string, account: string): CredentialKey {
  return { resource: endpoint, name: `${PREFIX}${account}` };
}

/** The account of a credential; `undefined`: it is something else. */
export function accountOf({ name }: CredentialKey): string | undefined {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
}

/** What is stored of one account at one endpoint. Rejects as the store does, and with `oauth_invalid` for a text that is damaged. */
export class GrantShelf {
  readonly endpoint: string;
  readonly account: string;
  readonly #credentials: CredentialStore;
  readonly #wallNow: () => number;

  constructor(endpoint: string, account: string, credentials: CredentialStore, wallNow: () => number) {
    this.endpoint = endpoint;
    this.account = account;
    this.#credentials = credentials;
    this.#wallNow = wallNow;
  }

  async read(): Promise<StoredGrant | undefined> {
    return this.#opened(await this.#credentials.get(this.#key));
  }

  /** Writes a record in the place of one generation; `undefined`: of none. */
  async write(record: GrantRecord, expected: number | undefined): Promise<ShelfWrite> {
    const now = this.#wallNow();
    const put = await this.#credentials.put({ ...this.#key, text: printGrant(record), expected, now });
    if (put.kind === "conflict") return { kind: "conflict", current: this.#opened(put.current) };
    return { kind: "written", grant: { record, generation: put.generation, writtenAt: now } };
  }

  /** Writes a record whatever is there, damaged or not. */
  async replace(record: GrantRecord): Promise<StoredGrant> {
    for (;;) {
      const expected = (await this.#present())?.generation;
      const now = this.#wallNow();
      const put = await this.#credentials.put({ ...this.#key, text: printGrant(record), expected, now });
      if (put.kind === "written") return { record, generation: put.generation, writtenAt: now };
    }
  }

  /** Removes one generation, if it is still the one that is there. Answers whether it was. */
  async removeOnly(generation: number): Promise<boolean> {
    return (await this.#credentials.remove(this.#key, generation)).kind === "removed";
  }

  /** Removes whatever is there. Answers with what it was; `damaged` for what could not be read. */
  async remove(): Promise<StoredGrant | "damaged" | undefined> {
    for (;;) {
      const current = await this.#present();
      if (current === undefined) return undefined;
      if ((await this.#credentials.remove(this.#key, current.generation)).kind === "conflict") continue;
      try {
        return this.#opened(current);
      } catch {
        return "damaged";
      }
    }
  }

  /** Whatever is there, also what a store that seals can't open. */
  #present(): Promise<Credential | undefined> {
    return findToReplace(this.#credentials, this.#key, this.#wallNow());
  }

  get #key(): CredentialKey {
    return grantKey(this.endpoint, this.account);
  }

  #opened(credential: Credential | undefined): StoredGrant | undefined {
    if (credential === undefined) return undefined;
    const { generation, text, updatedAt } = credential;
    return { record: parseGrant(text, this.endpoint), generation, writtenAt: updatedAt };
  }
}
