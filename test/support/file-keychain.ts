import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { join } from "node:path";
import type { Keychain } from "../../src/oauth/vault/index.js";

/** A keychain whose entries are files of a directory. Each method takes a turn of the event loop, as real ones do. */
export function fileKeychain(directory: string): Keychain {
  const pathOf = (service: string, account: string) => {
    mkdirSync(directory, { recursive: true });
    return join(directory, `${encodeURIComponent(service)}.${account}`);
  };
  return {
    async get(service, account) {
      await setImmediate();
      try {
        return readFileSync(pathOf(service, account), "utf8");
      } catch {
        return undefined;
      }
    },
    async set(service, account, value) {
      await setImmediate();
      writeFileSync(pathOf(service, account), value);
    },
    async delete(service, account) {
      await setImmediate();
      rmSync(pathOf(service, account), { force: true });
    },
  };
}
