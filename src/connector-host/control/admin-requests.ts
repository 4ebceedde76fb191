import { z } from "zod";
import { RemoteConnectorError } from "../../errors.js";
import { type HttpAnswer, HttpEndpoint, httpSend, type TransportConfig } from "../../transport/index.js";
import { restoreFault, type VerbSending } from "../admin/index.js";
import type { Confirm } from "./confirm-at-terminal.js";
import { ADMIN_PATH } from "./control-paths.js";
import { refusedAnswer } from "./refused-answer.js";

export interface AdminRequestsOptions {
  readonly origin: string;
  readonly config: TransportConfig;
  /** How long a request may take that says nothing else of it. */
  readonly timeoutMs: number;
  readonly confirm: Confirm;
  /** Makes a request, again if its connection broke and it may be repeated. */
  readonly send: (request: () => Promise<HttpAnswer>, isRepeatable: boolean) => Promise<HttpAnswer>;
}

const answerShape = z.object({ result: z.unknown() });
const errorShape = z.object({
  error: z.unknown(),
  confirmation: z.object({ id: z.string(), question: z.string() }).optional(),
});

/** Requests for verbs of the admin plane, and the question to a person between the refusal of one and its repetition. */
export class AdminRequests {
  readonly #options: AdminRequestsOptions;
  readonly #endpoints = new Map<string, HttpEndpoint>();
  #isClosed = false;

  constructor(options: AdminRequestsOptions) {
    this.#options = options;
  }

  /**
   * Resolves to the verb's result. Rejects with what the host failed with; with what `confirm` rejects with, and `cancelled`
   * (`not_confirmed`, `not_sent`) when the person does not want it; and as requests to the host do.
   */
  async ask(verb: string, params: object, sending: VerbSending): Promise<unknown> {
    const first = await this.#request(verb, { params }, sending);
    if (isDone(first)) return resultOf(first);
    const { error, confirmation } = errorShape.safeParse(jsonOf(first)).data ?? {};
    if (confirmation === undefined) throw restoreFault(error) ?? refusedAnswer(first);
    // Nothing but this very word is one: whoever answers with a text may have said no.
    const isConfirmed: unknown = await this.#options.confirm(confirmation.question);
    if (isConfirmed !== true) throw notConfirmed();
    const second = await this.#request(verb, { params, confirmation: confirmation.id }, sending);
    if (isDone(second)) return resultOf(second);
    throw restoreFault(errorShape.safeParse(jsonOf(second)).data?.error) ?? refusedAnswer(second);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#endpoints.values(), (endpoint) => endpoint.close()));
  }

  #request(verb: string, body: object, { extraMs, isRepeatable, signal }: VerbSending): Promise<HttpAnswer> {
    const { send, timeoutMs } = this.#options;
    const endpoint = this.#endpointOf(verb);
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const limitMs = timeoutMs + extraMs;
    const options = { signal, idleTimeoutMs: limitMs, totalTimeoutMs: limitMs };
    return send(() => httpSend(endpoint, "POST", bytes, options), isRepeatable);
  }

  #endpointOf(verb: string): HttpEndpoint {
    const { config, origin } = this.#options;
    let endpoint = this.#endpoints.get(verb);
    if (endpoint === undefined) {
      endpoint = new HttpEndpoint(new URL(`${ADMIN_PATH}${verb}`, origin), config, undefined);
      this.#endpoints.set(verb, endpoint);
      if (this.#isClosed) void endpoint.close();
    }
    return endpoint;
  }
}

function isDone({ status }: HttpAnswer): boolean {
  return status >= 200 && status <= 299;
}

function resultOf({ body }: HttpAnswer): unknown {
  const { data } = answerShape.safeParse(jsonOf({ body }));
  if (data !== undefined && Object.hasOwn(data, "result")) return data.result;
  throw new RemoteConnectorError("invalid_answer", {
    message: "The host's answer can't be read: it holds no result.",
    delivery: "answered",
    details: { reason: "no result" },
  });
}

function jsonOf({ body }: Pick<HttpAnswer, "body">): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return value;
  } catch {
    return undefined;
  }
}

function notConfirmed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The person who was asked does not want it.",
    details: { reason: "not_confirmed" },
  });
}
