import type { RegistrationFiles } from "remote-connector/connector-host";
import type { KillPoint } from "./kill-points.js";

type Kept = Pick<RegistrationFiles, "load" | "put" | "remove">;

/** Registrations whose every write tells before it begins, and when it is done. */
export function watchRegistrations(kept: Kept, at: (point: KillPoint) => void): Kept {
  const watched = async (write: () => Promise<void>): Promise<void> => {
    at("file");
    await write();
    at("file");
  };
  return {
    load: (policy) => kept.load(policy),
    put: (registration) => watched(() => kept.put(registration)),
    remove: (registration) => watched(() => kept.remove(registration)),
  };
}
