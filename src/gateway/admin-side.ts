import type { IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import { checkLoopbackHost, matchBearer, sendEmpty, sendJson } from "../serving/index.js";
import {
  accountShape,
  type AdminRefusal,
  grantShape,
  readJson,
  restoreShape,
  switchShape,
  targetShape,
} from "./admin-requests.js";
import { type AuthorizationChanges, subjectOf } from "./authorization-changes.js";
import type { AuthorizationChange, ChangeOutcome, Connection } from "./authorization-state.js";
import type { Authorizer } from "./authorizing/index.js";
import { type FaultBook, faultShape } from "./faults.js";
import type { HintHub } from "./hint-hub.js";
import { readOrder, refuseAccount } from "./operator-order.js";
import type { GatewayConfig } from "./options.js";
import type { UpstreamPool } from "./upstream-pool.js";

export interface AdminSideParts {
  readonly config: GatewayConfig;
  readonly faults: FaultBook;
  readonly pool: UpstreamPool;
  readonly changes: AuthorizationChanges;
  readonly authorizer: Authorizer;
  readonly hints: HintHub;
  /** SHA-256 of the bearer. */
  readonly bearerHash: Uint8Array;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

interface Path {
  readonly methods: readonly string[];
  readonly answer: Handler;
}

/** What the operator of a gateway reaches, on loopback and with a bearer of its own. Answers are plain JSON. */
export class AdminSide {
  readonly #parts: AdminSideParts;
  readonly #paths: ReadonlyMap<string, Path>;

  constructor(parts: AdminSideParts) {
    this.#parts = parts;
    this.#paths = new Map<string, Path>([
      ["/admin/grant", this.#post(grantShape, (body) => this.#change(body, { kind: "grant" }, body.secret))],
      ["/admin/revoke", this.#post(targetShape, (body) => this.#change(body, { kind: "revoke" }))],
      ["/admin/expire", this.#post(targetShape, (body) => this.#change(body, { kind: "expire" }))],
      ["/admin/add-connection", this.#post(grantShape, (body) => this.#change(body, { kind: "add" }, body.secret))],
      [
        "/admin/switch-connection",
        this.#post(switchShape, (body) => this.#change(body, { kind: "switch", connectionId: body.connectionId })),
      ],
      ["/admin/restore", this.#post(restoreShape, (body) => this.#restore(body))],
      ["/admin/reset-epoch", this.#post(accountShape, (body) => this.#resetEpoch(body.accountId))],
      ["/admin/drop-hint-connections", this.#post(accountShape, (body) => this.#dropHints(body.accountId))],
      ["/admin/state", { methods: ["GET"], answer: (_request, response) => this.#state(response) }],
      [
        "/admin/faults",
        { methods: ["POST", "DELETE"], answer: (request, response) => this.#faults(request, response) },
      ],
    ]);
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
    const [name = ""] = (request.url ?? "").split("?");
    const path = this.#paths.get(name);
    if (path === undefined) {
      return refuse(response, { status: 404, code: "not_found", message: "There is no such path" });
    }
    if (request.method !== undefined && path.methods.includes(request.method)) return path.answer(request, response);
    const allow = path.methods.join(", ");
    const message = `Only ${allow} is allowed`;
    return refuse(response, { status: 405, code: "method_not_allowed", message }, { Allow: allow });
  }

  /** A path that takes a body and answers with an object, or refuses. */
  #post<T>(shape: z.ZodType<T>, run: (body: T) => Promise<AdminRefusal | object>): Path {
    const answer: Handler = async (request, response) => {
      const body = await readJson(request, shape);
      if (body.kind === "aborted") return undefined;
      if (body.kind === "refused") return refuse(response, body.refusal);
      const outcome = await run(body.value);
      return isRefusal(outcome) ? refuse(response, outcome) : sendJson(response, 200, JSON.stringify(outcome));
    };
    return { methods: ["POST"], answer };
  }

  async #change(
    { accountId, connectorId }: { readonly accountId: string; readonly connectorId: string },
    change: AuthorizationChange,
    secret?: string,
  ): Promise<AdminRefusal | object> {
    const order = readOrder(this.#parts.config, accountId, connectorId, secret);
    if (order.kind === "refused") return order.refusal;
    const outcome = await this.#parts.changes.change(accountId, connectorId, change, order.credential);
    return { ...shownOutcome(outcome), ...addedBy(change, outcome) };
  }

  async #restore({ accountId, revision }: z.output<typeof restoreShape>): Promise<AdminRefusal | object> {
    const refusal = refuseAccount(this.#parts.config, accountId);
    if (refusal !== undefined) return refusal;
    if (await this.#parts.changes.restore(accountId, BigInt(revision))) return this.#epochOf(accountId);
    return { status: 409, code: "not_remembered", message: "The revision is not remembered" };
  }

  async #resetEpoch(accountId: string | undefined): Promise<AdminRefusal | object> {
    const refusal = refuseAccount(this.#parts.config, accountId);
    if (refusal !== undefined) return refusal;
    await this.#parts.changes.resetEpoch(accountId);
    return this.#epochOf(accountId);
  }

  #dropHints(accountId: string | undefined): Promise<AdminRefusal | object> {
    const refusal = refuseAccount(this.#parts.config, accountId);
    if (refusal === undefined) this.#parts.hints.drop(accountId);
    return Promise.resolve(refusal ?? {});
  }

  async #epochOf(accountId: string | undefined): Promise<object> {
    const { state } = this.#parts.config;
    if (accountId === undefined) return { epoch: state.epoch };
    const { epoch, revision } = await state.read(accountId);
    return { epoch, revision: String(revision) };
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

  /** Everything but secrets: of a session also not where it sends its account. */
  async #state(response: ServerResponse): Promise<void> {
    const { authorizer, config, faults, pool } = this.#parts;
    const accounts = config.accounts.map(async ({ accountId }) => {
      const { connections, epoch, revision } = await config.state.read(accountId);
      const connectors = [...connections].map(([connectorId, connection]) => ({
        connectorId,
        ...shown(connection),
        ...(connection.others.length === 0 ? {} : { otherConnectionIds: connection.others }),
      }));
      return { accountId, epoch, revision: String(revision), connectors };
    });
    const connectors = [...config.connectors.values()].map((connector) => {
      const { authorization, authorizing, connectorId, connectorVersion } = connector;
      return { connectorId, connectorVersion, authorization, authorizing: authorizing?.kind };
    });
    const sessions = authorizer.sessions.map((session) => {
      const { accountId, connectorId, errorCode, resultConnectionId, sessionId, status } = session;
      return { sessionId, accountId, connectorId, status, errorCode, resultConnectionId };
    });
    const state = {
      epoch: config.state.epoch,
      connectors,
      accounts: await Promise.all(accounts),
      sessions,
      upstreams: pool.list(),
      faults: faults.list(),
    };
    return sendJson(response, 200, JSON.stringify(state));
  }
}

function isRefusal(outcome: AdminRefusal | object): outcome is AdminRefusal {
  return Object.hasOwn(outcome, "status");
}

function shownOutcome({ changed, connection, revision }: ChangeOutcome): object {
  return { changed, revision: String(revision), ...shown(connection) };
}

/** The id of a connection that was added: it need not be the one in use. */
function addedBy(change: AuthorizationChange, { connection }: ChangeOutcome): object {
  if (change.kind !== "add" || connection === undefined) return {};
  return { addedConnectionId: subjectOf(change, connection) };
}

function shown(connection: Connection | undefined): object {
  if (connection === undefined) return { state: "disconnected" };
  const { connectionId, connectionVersion, state } = connection;
  return { state, connectionId, connectionVersion: String(connectionVersion) };
}

function refuse(response: ServerResponse, refusal: AdminRefusal, headers: Readonly<Record<string, string>> = {}): void {
  const { status, code, message, issues } = refusal;
  const error = { code, message, ...(issues === undefined ? {} : { issues }) };
  const ending = status === 413 ? { Connection: "close" } : {};
  sendJson(response, status, JSON.stringify({ error }), { ...headers, ...ending });
}
