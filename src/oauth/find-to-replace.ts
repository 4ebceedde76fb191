import { isRemoteConnectorError } from "../errors.js";
import type { Credential, CredentialKey, CredentialStore } from "./ports.js";

/**
 * What is there, for somebody who will write over it or remove it whatever it says. An entry that a sealing store can't open has a text
 * and a generation that nobody can know: it is written over with an empty text, which no reader of this folder takes, and comes back as that.
 *
 * Rejects as the store does, but for `oauth_invalid`.
 */
export async function findToReplace(
  store: CredentialStore,
  key: CredentialKey,
  now: number,
): Promise<Credential | undefined> {
  for (;;) {
    try {
      return await store.get(key);
    } catch (error) {
      if (!isRemoteConnectorError(error, "oauth_invalid")) throw error;
    }
    // When it is mended meanwhile, this changes nothing, and it is read again.
    await store.put({ ...key, text: "", expected: undefined, now });
  }
}
