import type { WallClock } from "../../auth-projection/index.js";
import { isJsonObject, parseJson } from "../../protocol/index.js";
import type { DocumentRow } from "../documents/index.js";
import type { DurableBindingRow, DurableBindingRows } from "../local-server/index.js";
import type { HostLogger } from "./host-logger.js";
import type { HostStore } from "./host-store.js";

export interface DurableRowsOptions {
  readonly store: HostStore;
  readonly clock: WallClock;
  readonly logger: HostLogger;
}

const KIND = "binding";
const SHA_256_HEX = /^[0-9a-f]{64}$/;

/** The durable bindings among a host's documents, by name. One that can't be read is reported and left out; it stays. */
export function durableRows({ store, clock, logger }: DurableRowsOptions): DurableBindingRows {
  return {
    async list() {
      const documents = await store.read((tx) => tx.documents.list(KIND));
      return documents.flatMap((document) => {
        const row = parseDurableRow(document);
        if (row === undefined) logger.warn("A durable binding can't be read.", { name: document.key });
        return row ?? [];
      });
    },
    put: ({ name, accountId, approvals, profile, bearerHash }) =>
      store.write((tx) =>
        tx.documents.put({
          kind: KIND,
          key: name,
          text: JSON.stringify({ accountId, approvals, profile, bearerHash }),
          updatedAt: clock.now(),
        }),
      ),
    remove: (name) => store.write((tx) => tx.documents.remove(KIND, name)),
  };
}

/** A document as a durable binding; `undefined` when it is none. Pure. */
export function parseDurableRow({ key, text }: Pick<DocumentRow, "key" | "text">): DurableBindingRow | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { accountId, approvals, profile, bearerHash } = value;
  if (typeof bearerHash !== "string" || !SHA_256_HEX.test(bearerHash)) return undefined;
  if (accountId !== undefined && (typeof accountId !== "string" || accountId === "")) return undefined;
  if (profile !== undefined && typeof profile !== "string") return undefined;
  return {
    name: key,
    accountId,
    bearerHash,
    ...(approvals === "agent" && { approvals }),
    ...(profile !== undefined && { profile }),
  };
}
