import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { BoundAgent } from "../../../../src/connector-host/index.js";
import { isJsonObject, type JsonObject } from "../../../../src/protocol/index.js";

export const SAMPLED = { role: "assistant" as const, content: { type: "text" as const, text: "4" }, model: "m" };
export const LISTED = { roots: [{ uri: "file:///a" }] };
const ASKABLE = { elicitation: { form: {} }, sampling: {}, roots: {} };

type Eventually<T> = T | Promise<T>;

export interface Person {
  /** What forms were shown, by their messages. */
  readonly shown: string[];
  answer(message: string): Eventually<{ action: "accept" | "decline" | "cancel"; content?: Record<string, string> }>;
}

/** Says who it is told to be. */
export function person(name = "Ada"): Person {
  return { shown: [], answer: () => ({ action: "accept", content: { name } }) };
}

/** The official client, of one revision, with a person, a model and a folder. */
export async function officialAgent(agent: BoundAgent, revision: string, who: Person): Promise<Client> {
  const negotiation =
    revision === "2026-07-28"
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: "agent", version: "1" }, { capabilities: ASKABLE, ...negotiation });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    who.shown.push(params.message);
    return who.answer(params.message);
  });
  client.setRequestHandler("sampling/createMessage", () => SAMPLED);
  client.setRequestHandler("roots/list", () => LISTED);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(agent.url), { requestInit: { headers: agent.headers } }),
  );
  onTestFinished(() => client.close());
  return client;
}

/** A modern agent that shows forms, and sends what it is told. */
export class FormAgent {
  readonly #bound: Pick<BoundAgent, "url" | "headers">;
  #id = 0;

  constructor(bound: Pick<BoundAgent, "url" | "headers">) {
    this.#bound = bound;
  }

  /** The result of a call, or the error with its verdict. */
  async call(
    name: string,
    members: object = {},
    signal?: AbortSignal,
    method: AskedMethod = "tools/call",
  ): Promise<JsonObject> {
    this.#id += 1;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": ASKABLE,
    };
    const response = await fetch(this.#bound.url, {
      method: "POST",
      headers: {
        ...this.#bound.headers,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        "Mcp-Name": name,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: this.#id,
        method,
        params: { name, arguments: {}, ...members, _meta },
      }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    // What takes long is a stream, with comments before its one message.
    const answer: unknown = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    const { result, error } = isJsonObject(answer) ? answer : {};
    if (isJsonObject(result)) return result;
    return isJsonObject(error) && isJsonObject(error["data"]) ? error["data"] : { error };
  }

  /** Calls a tool, and is asked: the state, and the answers to everything. */
  async asked(name: string, members: object = {}, method?: AskedMethod): Promise<Asked> {
    const { inputRequests, requestState, ...rest } = await this.call(name, members, undefined, method);
    if (!isJsonObject(inputRequests) || typeof requestState !== "string") {
      throw new Error(`It was not asked: ${JSON.stringify(rest)}`);
    }
    const answer = { action: "accept", content: { name: "Ada" } };
    return { requestState, inputResponses: Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer])) };
  }
}

type AskedMethod = "tools/call" | "prompts/get";

/** What a call is made again with. */
export interface Asked {
  readonly requestState: string;
  readonly inputResponses: JsonObject;
}
