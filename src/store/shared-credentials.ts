import { RemoteConnectorError } from "../errors.js";
import type { Credential, CredentialConflict, CredentialKey, CredentialStore } from "../oauth/index.js";
import { ColumnReader, integerColumn, textColumn } from "./columns.js";
import { inCodeUnits, type ColumnRow, type RowTable, type TableSpec } from "./row-table.js";
import type { SharedEngine } from "./shared-engine.js";
import type { SharedStoreBounds } from "./shared-options.js";

/** Where credentials are kept. */
export const CREDENTIAL_TABLE: TableSpec = {
  name: "credential",
  keyLength: 2,
  columns: ["resource", "name", "generation", "text", "updated_at"],
};

/** The credentials of a shared store. */
export function sharedCredentials(
  engine: SharedEngine,
  { maxCredentials, maxCredentialBytes }: SharedStoreBounds,
): CredentialStore {
  return {
    get: (key) => engine.transact(({ credentials }) => find(credentials, key)),
    list: (resource) =>
      engine.transact(({ credentials }) =>
        inCodeUnits(credentials.list(textColumn(resource)).map(decode), ({ name }) => name),
      ),
    put: async ({ resource, name, text, expected, now }) => {
      if (Buffer.byteLength(text, "utf8") > maxCredentialBytes) {
        throw exceeded("maxCredentialBytes", maxCredentialBytes, "The credential is too long");
      }
      return engine.transact((tables) => {
        const { credentials } = tables;
        const current = find(credentials, { resource, name });
        if (current?.generation !== expected) return conflict(current);
        if (current === undefined && credentials.count() >= maxCredentials) {
          throw exceeded("maxCredentials", maxCredentials, "There are too many credentials");
        }
        const generation = tables.nextGeneration();
        credentials.put(encode({ resource, name, generation, text, updatedAt: now }));
        return { kind: "written", generation };
      });
    },
    remove: (key, expected) =>
      engine.transact(({ credentials }) => {
        const current = find(credentials, key);
        if (current?.generation !== expected) return conflict(current);
        credentials.remove(textColumn(key.resource), textColumn(key.name));
        return { kind: "removed" };
      }),
  };
}

function find(credentials: RowTable, { resource, name }: CredentialKey): Credential | undefined {
  const row = credentials.get(textColumn(resource), textColumn(name));
  return row && decode(row);
}

function conflict(current: Credential | undefined): CredentialConflict {
  return { kind: "conflict", current };
}

function encode({ resource, name, generation, text, updatedAt }: Credential): ColumnRow {
  return [textColumn(resource), textColumn(name), generation, textColumn(text), integerColumn("now", updatedAt)];
}

function decode(columns: ColumnRow): Credential {
  const read = new ColumnReader(CREDENTIAL_TABLE.name, columns);
  return {
    resource: read.text(),
    name: read.text(),
    generation: read.integer(),
    text: read.text(),
    updatedAt: read.integer(),
  };
}

function exceeded(option: string, limit: number, message: string): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `${message}: ${String(limit)} is the limit (${option}).`,
    details: { option, limit },
  });
}
