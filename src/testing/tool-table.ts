import { isJsonObject, type JsonObject, RpcCode, type Tool } from "../protocol/index.js";
import { type Answer, answerError, answerResult } from "./answer.js";
import type { ReceivedRequest } from "./received-request.js";

/** What a method or a tool gives: a result, or the whole answer. */
export type MethodHandler = (
  params: JsonObject,
  request: ReceivedRequest,
) => JsonObject | Answer | Promise<JsonObject | Answer>;

/** A tool of a scripted server. */
export interface ScriptedTool extends Partial<Tool> {
  readonly name: string;
  /** Gives the result of a call, or the whole answer. Left out, a call gives its arguments back as text. */
  readonly run?: MethodHandler | undefined;
}

/** What a server of any era is told. */
export interface ToolServerOptions {
  readonly tools?: readonly ScriptedTool[] | undefined;
  /** Further methods, and those to answer in another way. */
  readonly methods?: Readonly<Record<string, MethodHandler>> | undefined;
  /** Declared with the server's identity. `{ tools: {} }` when left out. */
  readonly capabilities?: JsonObject | undefined;
}

/** Who every scripted server says it is. */
export const SERVER_INFO = { name: "scripted-server", version: "1.0.0" } as const;

/** What the eras do differently. */
export interface EraRules {
  /** Methods beside those of the tool table. */
  readonly methods: Readonly<Record<string, MethodHandler>>;
  /** The status of an error for an unknown method. */
  readonly unknownMethodStatus: number;
  /** Members that every result has. */
  readonly members: JsonObject;
}

/** Answers a request by its method: those of the options first, then those of the era, then those of the tool table. */
export async function answerMethod(
  options: ToolServerOptions,
  era: EraRules,
  request: ReceivedRequest,
): Promise<Answer> {
  const method = request.method ?? "";
  const handler = options.methods?.[method] ?? era.methods[method] ?? tableMethods(options)[method];
  if (handler === undefined) {
    return answerError(RpcCode.methodNotFound, `no method ${method}`, { status: era.unknownMethodStatus });
  }
  const given = await handler(request.params, request);
  return isAnswer(given) ? given : answerResult({ ...era.members, ...given });
}

function tableMethods({ tools = [] }: ToolServerOptions): Readonly<Record<string, MethodHandler>> {
  return {
    "tools/list": () => ({ tools: tools.map(definitionOf) }),
    "tools/call": async (params, request) => {
      const tool = tools.find(({ name }) => name === params["name"]);
      if (tool === undefined) return answerError(RpcCode.invalidParams, "no such tool");
      if (tool.run === undefined)
        return { content: [{ type: "text", text: JSON.stringify(params["arguments"] ?? {}) }] };
      const args = params["arguments"];
      return tool.run(isJsonObject(args) ? args : {}, request);
    },
  };
}

function definitionOf(tool: ScriptedTool): JsonObject {
  const members = Object.entries(tool).filter(([name]) => name !== "run");
  return { inputSchema: { type: "object" }, ...Object.fromEntries(members) };
}

function isAnswer(value: JsonObject | Answer): value is Answer {
  return isJsonObject(value["body"]) && Array.isArray(value["faults"]) && typeof value["framing"] === "string";
}
