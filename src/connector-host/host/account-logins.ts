import type { LoginGuard } from "../../auth-projection/index.js";
import type { AccountLogins } from "../factories/index.js";

/** The logins of a guard, as factories ask for them. */
export function accountLogins(logins: LoginGuard): AccountLogins {
  return {
    loginGeneration(accountId) {
      const { current } = logins;
      return current?.accountId === accountId ? current.generation : undefined;
    },
    authorizerFor: (accountId, generation) => logins.authorizerFor({ accountId, generation }),
  };
}
