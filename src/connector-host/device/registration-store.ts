import {
  loadRegistrations,
  type LoadedRegistrations,
  type Registration,
  registrationFileName,
  type RegistrationPolicy,
  writeRegistration,
} from "../registration/index.js";

/** Where registrations are kept. Writes of one registration happen in the order of their calls. */
export interface RegistrationStore {
  /** All that can be read, and what can't. Rejects with `invalid_options` for the policy; else as the store's own methods do. */
  load(policy?: RegistrationPolicy): Promise<LoadedRegistrations>;
  /** Keeps a registration, in the place of the one with its id: as a whole, or not at all. */
  put(registration: Registration): Promise<void>;
  /** Forgets a registration. Nothing happens when there is none. */
  remove(registration: Pick<Registration, "id">): Promise<void>;
}

/** Registrations that are forgotten with the process. No method rejects but for the policy. */
export function createRegistrationMemory(): RegistrationStore {
  const texts = new Map<string, string>();
  return {
    load: async (policy) =>
      loadRegistrations(
        [...texts].map(([file, text]) => ({ file, text })),
        policy,
      ),
    put: async (registration) => void texts.set(registrationFileName(registration), writeRegistration(registration)),
    remove: async (registration) => void texts.delete(registrationFileName(registration)),
  };
}
