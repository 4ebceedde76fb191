import { isRemoteConnectorError } from "../../errors.js";
import { isJsonObject, parseJson } from "../../protocol/index.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { HostStore } from "./host-store.js";

const KIND = "host";
const KEY = "identity";
const HOST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * What tells this host from others, the same for all processes on one store: made by the first. What can't be written down is good for
 * this process. Rejects with what the store rejects with, unless its disk is full.
 */
export async function loadHostId(
  config: Pick<ConnectorHostConfig, "logger" | "mintId" | "wallClock">,
  store: HostStore,
): Promise<string> {
  const { logger, mintId, wallClock } = config;
  const known = await store.read((tx) => tx.documents.get(KIND, KEY));
  const hostId = known && parseHostId(known.text);
  if (hostId !== undefined) return hostId;
  if (known !== undefined) logger.warn("What tells this host from others can't be read, and was made anew.", {});
  const minted = mintId();
  try {
    const text = JSON.stringify({ hostId: minted });
    await store.write((tx) => tx.documents.put({ kind: KIND, key: KEY, text, updatedAt: wallClock.now() }));
  } catch (error) {
    if (!isRemoteConnectorError(error, "store_full")) throw error;
    logger.warn("What tells this host from others could not be kept: it is good for this process.", { error });
  }
  return minted;
}

/** `undefined` for a text that holds none. Pure. */
export function parseHostId(text: string): string | undefined {
  const value = parseJson(text);
  const hostId = isJsonObject(value) ? value["hostId"] : undefined;
  return typeof hostId === "string" && HOST_ID.test(hostId) ? hostId : undefined;
}
