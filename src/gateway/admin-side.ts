import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { checkLoopbackHost, matchBearer, readBody, sendEmpty, sendJson } from "../serving/index.js";
import type { AuthorizationChange, ChangeOutcome, Connection } from "./authorization-state.js";
import { type FaultBook, faultShape } from "./faults.js";
import type { GatewayConfig } from "./options.js";
import type { UpstreamPool } from "./upstream-pool.js";

/** Refuses an admin request. `issues` name the members of the body that can't be used. */
interface AdminRefusal {
  readonly status: number;
  readonly code: "bad_request" | "forbidden" | "not_found" | "unauthorized" | "method_not_allowed" | "too_large";
  readonly message: string;
  readonly issues?: readonly { readonly member: string; readonly reason: string }[] | undefined;
}

export interface AdminSideParts {
  readonly config: GatewayConfig;
  readonly faults: FaultBook;
  readonly pool: UpstreamPool;
  readonly change: (accountId: string, connectorId: string, change: AuthorizationChange) => Promise<ChangeOutcome>;
  /** SHA-256 of the bearer. */
  readonly bearerHash: Uint8Array;
}

const MAX_BODY_BYTES = 64 * 1024;

const changeShape = z.strictObject({ accountId: z.string().min(1), connectorId: z.string().min(1) });

const CHANGES: ReadonlyMap<string, AuthorizationChange> = new Map([
  ["/admin/grant", "grant"],
  ["/admin/revoke", "revoke"],
  ["/admin/expire", "expire"],
]);

/** What the operator of a gateway reaches, on loopback and with a bearer of its own. Answers are plain JSON. */
export class AdminSide {
  readonly #parts: AdminSideParts;

  constructor(parts: AdminSideParts) {
    this.#parts = parts;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (checkLoopbackHost(request.headers).kind === "refused") {
      return refuse(response, { status: 403, code: "forbidden", message: "Host or Origin is not of this machine" });
    }
    const known = [{ hash: this.#parts.bearerHash, value: true }];
    if (matchBearer(request.headers, known) !== true) {
      const message = "The admin bearer is missing or wrong";
      return refuse(response, { status: 401, code: "unauthorized", message }, { "WWW-Authenticate": "Bearer" });
    }
    const [path = ""] = (request.url ?? "").split("?");
    const change = CHANGES.get(path);
    if (change !== undefined) {
      return withMethod(request, response, ["POST"], () => this.#change(change, request, response));
    }
    if (path === "/admin/state") return withMethod(request, response, ["GET"], () => this.#state(response));
    if (path === "/admin/faults") {
      return withMethod(request, response, ["POST", "DELETE"], () => this.#faults(request, response));
    }
    return refuse(response, { status: 404, code: "not_found", message: "There is no such path" });
  }

  async #change(change: AuthorizationChange, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request, changeShape);
    if (body.kind === "aborted") return undefined;
    if (body.kind === "refused") return refuse(response, body.refusal);
    const { accountId, connectorId } = body.value;
    const refusal = this.#checkNames(accountId, connectorId);
    if (refusal !== undefined) return refuse(response, refusal);
    const outcome = await this.#parts.change(accountId, connectorId, change);
    const { changed, connection, revision } = outcome;
    return sendJson(response, 200, JSON.stringify({ changed, revision: String(revision), ...shown(connection) }));
  }

  async #faults(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { faults } = this.#parts;
    if (request.method === "DELETE") {
      faults.clear();
      return sendEmpty(response, 204);
    }
    const body = await readJson(request, faultShape);
    if (body.kind === "aborted") return undefined;
    if (body.kind === "refused") return refuse(response, body.refusal);
    faults.add(body.value);
    return sendJson(response, 200, JSON.stringify({ faults: faults.list() }));
  }

  async #state(response: ServerResponse): Promise<void> {
    const { config, faults, pool } = this.#parts;
    const accounts = config.accounts.map(async ({ accountId }) => {
      const { connections, revision } = await config.state.read(accountId);
      const connectors = [...connections].map(([connectorId, connection]) => ({ connectorId, ...shown(connection) }));
      return { accountId, revision: String(revision), connectors };
    });
    const connectors = [...config.connectors.values()].map(({ authorization, connectorId, connectorVersion }) => {
      return { connectorId, connectorVersion, authorization };
    });
    const state = {
      epoch: config.state.epoch,
      connectors,
      accounts: await Promise.all(accounts),
      upstreams: pool.list(),
      faults: faults.list(),
    };
    return sendJson(response, 200, JSON.stringify(state));
  }

  #checkNames(accountId: string, connectorId: string): AdminRefusal | undefined {
    const { accounts, connectors } = this.#parts.config;
    const connector = connectors.get(connectorId);
    if (!accounts.some((account) => account.accountId === accountId)) return unknown("account", accountId);
    if (connector === undefined) return unknown("connector", connectorId);
    if (connector.authorization === "account") return undefined;
    return { status: 400, code: "bad_request", message: "The connector needs no authorization" };
  }
}

function unknown(what: "account" | "connector", name: string): AdminRefusal {
  return { status: 404, code: "not_found", message: `There is no ${what} ${JSON.stringify(name.slice(0, 128))}` };
}

function shown(connection: Connection | undefined): object {
  if (connection === undefined) return { state: "disconnected" };
  const { connectionId, connectionVersion, state } = connection;
  return { state, connectionId, connectionVersion: String(connectionVersion) };
}

function refuse(response: ServerResponse, refusal: AdminRefusal, headers: Readonly<Record<string, string>> = {}): void {
  const { status, code, message, issues } = refusal;
  const error = { code, message, ...(issues === undefined ? {} : { issues }) };
  sendJson(response, status, JSON.stringify({ error }), headers);
}

async function withMethod(
  request: IncomingMessage,
  response: ServerResponse,
  allowed: readonly string[],
  run: () => Promise<void>,
): Promise<void> {
  if (request.method !== undefined && allowed.includes(request.method)) return run();
  const allow = allowed.join(", ");
  const message = `Only ${allow} is allowed`;
  return refuse(response, { status: 405, code: "method_not_allowed", message }, { Allow: allow });
}

type JsonReading<T> =
  | { readonly kind: "read"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: AdminRefusal }
  | { readonly kind: "aborted" };

async function readJson<T>(request: IncomingMessage, shape: z.ZodType<T>): Promise<JsonReading<T>> {
  const reading = await readBody(request, { maxBytes: MAX_BODY_BYTES });
  if (reading.kind === "aborted") return reading;
  if (reading.kind === "too_large") {
    return refused({
      status: 413,
      code: "too_large",
      message: `The body has more than ${String(reading.limit)} bytes`,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(reading.body).toString("utf8"));
  } catch {
    return refused({ status: 400, code: "bad_request", message: "The body is not JSON" });
  }
  const parsed = shape.safeParse(json);
  if (parsed.success) return { kind: "read", value: parsed.data };
  const issues = parsed.error.issues.map(({ message, path }) => ({
    member: path.map(String).join("."),
    reason: message,
  }));
  return refused({ status: 400, code: "bad_request", message: "The body can't be used", issues });
}

function refused(refusal: AdminRefusal): { readonly kind: "refused"; readonly refusal: AdminRefusal } {
  return { kind: "refused", refusal };
}
