import type { LoginGuard } from "../../../auth-projection/index.js";
import type { AccountLogins } from "../../factories/index.js";

/** The logins that leases are given for. */
export interface RelayLogins extends AccountLogins {
  /** Aborted when exactly this login ends; aborted already when it has. */
  loginSignal(accountId: string, loginGeneration: number): AbortSignal;
}

/** The logins of a guard. */
export function relayLogins(guard: LoginGuard): RelayLogins {
  return {
    loginGeneration(accountId) {
      const { current } = guard;
      return current?.accountId === accountId ? current.generation : undefined;
    },
    authorizerFor: (accountId, generation) => guard.authorizerFor({ accountId, generation }),
    loginSignal: (accountId, generation) => guard.signalOf({ accountId, generation }),
  };
}
