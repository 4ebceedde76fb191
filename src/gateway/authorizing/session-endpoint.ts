import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { readBody, sendJson } from "../../serving/index.js";
import type { GatewayConnector } from "../options.js";
import type { Arrival, Authorizer } from "./authorizer.js";
import { type ControlError, invalidRequest, isControlError, sendControlError } from "./control-error.js";
import { type AuthorizationSession, encodeSession } from "./session.js";

/** Source: the contract: 1 to 16,384 bytes of UTF-8. */
const MAX_SECRET_BYTES = 16_384;

/** Room for a secret whose every byte is written as an escape. */
const MAX_BODY_BYTES = 6 * MAX_SECRET_BYTES + 1_024;

const REPLACE_ACTIVE = "CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE";

const beginShape = z.strictObject({
  clientRequestId: z.string().min(1).max(128),
  connectorVersion: z.string().min(1).max(128),
  replacementPolicy: z.literal(REPLACE_ACTIVE).optional(),
});

const completeShape = z.strictObject({ secret: z.strictObject({ secret: z.string().min(1) }) });

const PAGES: Readonly<Record<Arrival, readonly [status: number, text: string]>> = {
  connected: [200, "The connector is authorized. You can close this window."],
  denied: [200, "The connector was not authorized. You can close this window."],
  failed: [502, "The connector could not be authorized. Close this window and try again."],
  unknown: [400, "This page belongs to no authorization that is under way. Close this window and try again."],
};

/** What accounts reach of authorization sessions, over HTTP. */
export class SessionEndpoint {
  readonly #authorizer: Authorizer;

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** `POST /v1/connectors/{id}/authorization-sessions`. */
  async begin(
    accountId: string,
    connector: GatewayConnector,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const reading = await readJson(request, beginShape);
    if (reading === undefined) return undefined;
    if (isControlError(reading)) return sendControlError(response, reading);
    const { clientRequestId, connectorVersion, replacementPolicy } = reading.value;
    const { connectorId } = connector;
    const replacesActive = replacementPolicy !== undefined;
    const asked = { accountId, connectorId, connectorVersion, clientRequestId, replacesActive };
    return sendOutcome(response, await this.#authorizer.begin(connector, asked));
  }

  /** `POST /v1/connector-authorization-sessions/{sid}/complete`. */
  async complete(
    accountId: string,
    sessionId: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const reading = await readJson(request, completeShape);
    if (reading === undefined) return undefined;
    if (isControlError(reading)) return sendControlError(response, reading);
    const secret = Buffer.from(reading.value.secret.secret, "utf8");
    if (secret.byteLength > MAX_SECRET_BYTES) {
      secret.fill(0);
      return sendControlError(response, invalidRequest(`The secret has more than ${String(MAX_SECRET_BYTES)} bytes`));
    }
    return sendOutcome(response, await this.#authorizer.complete(accountId, sessionId, secret));
  }

  /** `GET /v1/connector-authorization-sessions/{sid}`. */
  read(accountId: string, sessionId: string, response: ServerResponse): void {
    sendOutcome(response, this.#authorizer.find(accountId, sessionId));
  }

  /** `DELETE /v1/connector-authorization-sessions/{sid}`. */
  async cancel(accountId: string, sessionId: string, response: ServerResponse): Promise<void> {
    sendOutcome(response, await this.#authorizer.cancel(accountId, sessionId));
  }

  /** `GET /v1/connector-authorizations/callback/{id}`, where browsers come back to. Shows nothing of what they bring. */
  async arrive(
    connectorId: string,
    target: string,
    visitor: string | undefined,
    response: ServerResponse,
  ): Promise<void> {
    const query = target.includes("?") ? target.slice(target.indexOf("?") + 1) : "";
    const [status, text] = PAGES[await this.#authorizer.arrive(connectorId, new URLSearchParams(query), visitor)];
    if (response.destroyed) return;
    response.writeHead(status, {
      "Content-Type": "text/plain; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": "default-src 'none'",
      // The address holds the code.
      "Referrer-Policy": "no-referrer",
      "X-Content-Type-Options": "nosniff",
    });
    response.end(`${text}\n`);
  }
}

function sendOutcome(response: ServerResponse, outcome: AuthorizationSession | ControlError): void {
  if (isControlError(outcome)) sendControlError(response, outcome);
  else sendJson(response, 200, encodeSession(outcome));
}

/** The body, which is wiped once it is read; why it can't be used; or `undefined` when the caller is gone. */
async function readJson<T>(
  request: IncomingMessage,
  shape: z.ZodType<T>,
): Promise<{ readonly value: T } | ControlError | undefined> {
  const reading = await readBody(request, { maxBytes: MAX_BODY_BYTES });
  if (reading.kind === "aborted") return undefined;
  if (reading.kind === "too_large") {
    return invalidRequest(`The body has more than ${String(reading.limit)} bytes`, 413);
  }
  const json = parseJson(reading.body);
  reading.body.fill(0);
  const parsed = shape.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  const [issue] = parsed.error.issues;
  const member = (issue?.path ?? []).map(String).join(".");
  return invalidRequest(member === "" ? "The body can't be used" : `The body's member ${member} can't be used`);
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
