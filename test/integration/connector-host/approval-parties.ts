import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { BoundAgent, ConnectorHost, ConnectorHostOptions } from "../../../src/connector-host/index.js";
import { isJsonObject, type JsonObject } from "../../../src/protocol/index.js";
import { openSqliteStore } from "../../../src/store/index.js";
import type { ScriptedGateway } from "../../support/scripted-gateway.js";
import { becomes, type HostParties } from "./host-parties.js";
import { type Offer, offering } from "./permission-parties.js";

const FORMS = { elicitation: { form: {} } };
/** Where arguments are put in byte for byte. */
const MARK = "these arguments";
export const APPROVING = { action: "accept", content: { decision: "approve" } };

/** A host with a connector `a`, an account that is signed in, and a tool `drop` each call of which needs an approval; `read` needs none. */
export async function askingHost(
  parties: HostParties,
  options: Partial<ConnectorHostOptions> = {},
  offer: Offer = { tools: { drop: { title: "Drop it" }, read: {} } },
) {
  const gateway = await parties.gateway({ a: 1 });
  offering(gateway, "a", offer);
  const party = await parties.host(gateway, ["a"], options);
  party.host.signIn("ada");
  await becomes(party.host, { a: "ready" });
  await party.host.connectors.setPermission("a", "drop", "ask");
  return { gateway, ...party };
}

/** Starts, and starts again, a host whose state outlives it, with one connector `a` whose tool `drop` asks. */
export async function restartableHost(parties: HostParties) {
  const directory = await parties.folder();
  const gateway = await parties.gateway({ a: 1 });
  offering(gateway, "a", { tools: { drop: {} } });
  const start = async (): Promise<ConnectorHost> => {
    const store = await openSqliteStore({ directory });
    const { host } = await parties.host(gateway, ["a"], { newReleaseTools: "ask" }, store);
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    return host;
  };
  return { gateway, start };
}

export function vouched(host: ConnectorHost, agentSessionId = "s"): BoundAgent {
  return host.bind({ workspaceId: "w", agentSessionId, approvals: "agent" });
}

/** How often the connector was called. */
export function sent({ calls }: ScriptedGateway): number {
  return calls.filter(({ method }) => method === "tools/call").length;
}

/** What a call came to: its result, or the verdict in the data of its error. */
export interface CallAnswer {
  readonly result: JsonObject | undefined;
  readonly verdict: unknown;
}

/** A modern agent that shows forms, and sends what it is told. */
export class FormAgent {
  readonly #bound: Pick<BoundAgent, "url" | "headers">;
  readonly #capabilities: object;
  #id = 0;

  constructor(bound: Pick<BoundAgent, "url" | "headers">, capabilities: object = FORMS) {
    this.#bound = bound;
    this.#capabilities = capabilities;
  }

  /** Makes a call with these very bytes as its arguments, and with an answer to the form, if there is a state. */
  callWith(name: string, argumentsText: string, requestState?: string): Promise<CallAnswer> {
    const given = requestState === undefined ? {} : { requestState, inputResponses: { approval: APPROVING } };
    return this.call(name, { ...given, arguments: MARK }, undefined, {}, argumentsText);
  }

  async call(
    name: string,
    members: object = {},
    signal?: AbortSignal,
    meta: object = {},
    argumentsText = "",
  ): Promise<CallAnswer> {
    this.#id += 1;
    const params = {
      name,
      arguments: {},
      ...members,
      _meta: {
        ...meta,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": this.#capabilities,
      },
    };
    const response = await fetch(this.#bound.url, {
      method: "POST",
      headers: {
        ...this.#bound.headers,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: this.#id, method: "tools/call", params }).replace(
        JSON.stringify(MARK),
        () => argumentsText,
      ),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    // What takes long is a stream, with comments before its one message.
    const answer: unknown = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    const { result, error } = isJsonObject(answer) ? answer : {};
    const data = isJsonObject(error) ? error["data"] : undefined;
    const verdict = isJsonObject(data) ? data["sh.tutti/delivery"] : error;
    return { result: isJsonObject(result) ? result : undefined, verdict };
  }

  /** Calls a tool, is asked, and gives the state of that. */
  async asked(name: string, members: object = {}): Promise<string> {
    const { result, verdict } = await this.call(name, members);
    const state = result?.["requestState"];
    if (typeof state !== "string") throw new Error(`It was not asked: ${JSON.stringify(verdict)}`);
    return state;
  }

  /** Makes a call again, with an answer to the form. */
  goOn(name: string, requestState: string, members: object = {}, answer: object = APPROVING): Promise<CallAnswer> {
    return this.call(name, { inputResponses: { approval: answer }, requestState, ...members });
  }
}

/** A call that the host refused: nothing of it was sent. */
export function notSent(code: string, facts: object): object {
  return { delivery: "not_sent", code, ...facts };
}

/** The official client of both eras, whose person answers as told. */
export async function officialAgent(agent: BoundAgent, revision: string, person: (message: string) => object) {
  const negotiation =
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: "agent", version: "1" }, { capabilities: FORMS, ...negotiation });
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const answer: { action: "accept" | "decline" | "cancel"; content?: Record<string, string> } = {
      action: "cancel",
      ...person(params.message),
    };
    return answer;
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(agent.url), { requestInit: { headers: agent.headers } }),
  );
  onTestFinished(() => client.close());
  return client;
}
