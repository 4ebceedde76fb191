/** The keychain of a system. Every method may reject: with what, depends on the system. */
export interface Keychain {
  /** `undefined`: there is no such entry. */
  get(service: string, account: string): Promise<string | undefined>;
  set(service: string, account: string, value: string): Promise<void>;
  /** Nothing happens when there is no such entry. */
  delete(service: string, account: string): Promise<void>;
}

/**
 * The keychain of this system, by `@napi-rs/keyring`. Rejects when that is not installed.
 *
 * On Linux it is the Secret Service and nothing else: the keyring of the kernel, which the package would use in its absence, forgets
 * everything with the next start of the machine.
 */
export async function openSystemKeychain(): Promise<Keychain> {
  const { AsyncEntry } = await import("@napi-rs/keyring");
  const entry = (service: string, account: string) =>
    new AsyncEntry(service, account, { linux: { store: "secret-service" } });
  return {
    get: async (service, account) => (await entry(service, account).getPassword()) ?? undefined,
    set: (service, account, value) => entry(service, account).setPassword(value),
    delete: async (service, account) => {
      await entry(service, account).deletePassword();
    },
  };
}
