/**
 * Tokens in a place of one's own: `node token-store.js URL FILE`. A store is two small ports; here both are one JSON file, for one process.
 * It is not sealed: `sealedStore` does that for any store.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "remote-connector";
import { createOAuth, type Credential, type CredentialStore, type LeaseStore } from "remote-connector/oauth";

const [endpoint = "http://127.0.0.1:3000/mcp", file = "tokens.json"] = process.argv.slice(2);

/** Each method compares and changes without letting anything come between. */
class FileCredentials implements CredentialStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async get({ resource, name }: Pick<Credential, "resource" | "name">): Promise<Credential | undefined> {
    return this.#read().rows.find((row) => row.resource === resource && row.name === name);
  }

  async list(resource: string): Promise<readonly Credential[]> {
    const rows = this.#read().rows.filter((row) => row.resource === resource);
    return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async put({ expected, now, ...row }: Parameters<CredentialStore["put"]>[0]): ReturnType<CredentialStore["put"]> {
    const { last, rows } = this.#read();
    const current = rows.find((each) => each.resource === row.resource && each.name === row.name);
    if (current?.generation !== expected) return { kind: "conflict", current };
    const generation = last + 1;
    const { resource, name, text } = row;
    const written = { resource, name, text, generation, updatedAt: now };
    this.#write({ last: generation, rows: [...rows.filter((each) => each !== current), written] });
    return { kind: "written", generation };
  }

  async remove(key: Pick<Credential, "resource" | "name">, expected: number): ReturnType<CredentialStore["remove"]> {
    const { last, rows } = this.#read();
    const current = rows.find((each) => each.resource === key.resource && each.name === key.name);
    if (current?.generation !== expected) return { kind: "conflict", current };
    this.#write({ last, rows: rows.filter((each) => each !== current) });
    return { kind: "removed" };
  }

  #read(): { readonly last: number; readonly rows: readonly Credential[] } {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8"));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return { last: 0, rows: [] };
      throw error;
    }
  }

  #write(content: { readonly last: number; readonly rows: readonly Credential[] }): void {
    writeFileSync(`${this.#path}.new`, JSON.stringify(content), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}

/** With one process, whoever asks may. */
const leases: LeaseStore = {
  acquire: async ({ now, ttlMs }) => ({ kind: "held", until: now + ttlMs }),
  renew: async () => true,
  release: async () => true,
};

const oauth = createOAuth({ clientName: "Example", store: { credentials: new FileCredentials(file), leases } });
const client = await connect({
  endpoint,
  clientInfo: { name: "example-token-store", version: "1.0.0" },
  authorize: oauth,
});
const { tools } = await client.listAllTools();
console.log(tools.map(({ name }) => name).join(", "));
await client.close();
await oauth.close();
