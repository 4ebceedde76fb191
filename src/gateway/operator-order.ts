import type { AdminRefusal } from "./admin-requests.js";
import { canCarry, type Credential, lastingCredential } from "./authorizing/index.js";
import type { GatewayConfig } from "./options.js";

/** What an operator asks for, with the credential that it brings. */
type Order =
  | { readonly kind: "accepted"; readonly credential: Credential | undefined }
  | { readonly kind: "refused"; readonly refusal: AdminRefusal };

type Known = Pick<GatewayConfig, "accounts" | "connectors">;

/** Whether an operator can change how this account stands to this connector, by this secret. Pure. */
export function readOrder(config: Known, accountId: string, connectorId: string, secret: string | undefined): Order {
  const connector = config.connectors.get(connectorId);
  const refusal = refuseAccount(config, accountId);
  if (refusal !== undefined) return { kind: "refused", refusal };
  if (connector === undefined) return { kind: "refused", refusal: unknown("connector", connectorId) };
  if (connector.authorization === "none") return refuse("The connector needs no authorization");
  if (secret === undefined) return { kind: "accepted", credential: undefined };
  const { upstream } = connector;
  if (upstream.kind === "stdio" && upstream.credentialVariable === undefined) {
    return refuse("The connector's upstream has no credentialVariable");
  }
  const bytes = Buffer.from(secret, "utf8");
  if (!canCarry(connector, bytes)) return refuse("The secret holds characters that can't be sent");
  return { kind: "accepted", credential: lastingCredential(bytes) };
}

/** Refuses an account that there is not. None means all of them. Pure. */
export function refuseAccount(
  { accounts }: Pick<Known, "accounts">,
  accountId: string | undefined,
): AdminRefusal | undefined {
  if (accountId === undefined || accounts.some((account) => account.accountId === accountId)) return undefined;
  return unknown("account", accountId);
}

function refuse(message: string): Order {
  return { kind: "refused", refusal: { status: 400, code: "bad_request", message } };
}

function unknown(what: "account" | "connector", name: string): AdminRefusal {
  return { status: 404, code: "not_found", message: `There is no ${what} ${JSON.stringify(name.slice(0, 128))}` };
}
