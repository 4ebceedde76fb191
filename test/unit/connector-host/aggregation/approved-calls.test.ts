import { describe, expect, it } from "vitest";
import { ApprovedCalls } from "../../../../src/connector-host/aggregation/approved-calls.js";
import type { FoundTool } from "../../../../src/connector-host/aggregation/found-tool.js";
import type { ApprovalQuestion, ApprovalVerdict } from "../../../../src/connector-host/aggregation/ports.js";
import type { RouteAnswer } from "../../../../src/connector-host/aggregation/route-caller.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import type { Binding, ToolCall } from "../../../../src/connector-host/local-server/index.js";
import { Route } from "../../../../src/connector-host/routes/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { isJsonObject, type JsonObject } from "../../../../src/protocol/index.js";

const client = new ModernStreamableHTTPClient({
  endpoint: "http://127.0.0.1:9/mcp",
  clientInfo: { name: "test", version: "1" },
});
const binding: Binding = { workspaceId: "w", agentSessionId: "s", invocation: undefined, login: undefined };
const STATE = "the agent's state";

let generations = 0;
function routeOf(more: { connectionId?: string; scopeEpoch?: string } = {}): Route<RemoteMcpClient> {
  generations += 1;
  return new Route<RemoteMcpClient>({
    connectorKey: "a",
    scope: "account:ada",
    scopeEpoch: "e-1",
    connectionId: "c-1",
    generation: generations,
    releaseDigest: "d",
    connectionVersion: 1n,
    client: Object.assign(client, { era: "modern" as const }),
    tools: new Map(),
    ...more,
  });
}

function toolOf(more: Partial<FoundTool> = {}): FoundTool {
  const definition = '{"name":"drop","inputSchema":{"type":"object"}}';
  const found = { nativeName: "drop", exposedName: "a_drop", contract: { parameters: [] }, definition } as const;
  return { route: routeOf(), ...found, pins: undefined, permission: "ask", ...more };
}

const callOf = (): ToolCall => ({
  argumentsText: "{}",
  meta: {},
  logLevel: undefined,
  signal: new AbortController().signal,
  deadline: 1_000,
  input: { capabilities: { elicitation: {} }, continuation: { responses: undefined, state: STATE } },
});

/** What is approved at once, what it is once it was approved, and what its server answers. */
interface Given {
  readonly verdict?: ApprovalVerdict;
  readonly now?: FoundTool | Error;
  readonly result?: JsonObject;
  readonly isHeld?: boolean;
  readonly reached?: Route<RemoteMcpClient> | undefined;
}

const APPROVED: ApprovalVerdict = {
  kind: "approved",
  continuation: undefined,
  use: () => true,
  sealState: (state) => `sealed ${String(state)}`,
};

function party(tool: FoundTool, given: Given = {}) {
  const made: [FoundTool, ToolCall][] = [];
  let question: ApprovalQuestion | undefined;
  const { verdict = APPROVED, now = tool, result = { content: [] }, isHeld = false } = given;
  const calls = new ApprovedCalls({
    approvals: {
      isOpenTo: () => true,
      goesOn: () => true,
      pass: async (asked) => {
        question = asked;
        return verdict;
      },
    },
    resolve: async () => {
      if (now instanceof Error) throw now;
      return now;
    },
    routeOf: () => ("reached" in given ? given.reached : tool.route),
    make: async (found, call): Promise<RouteAnswer> => {
      made.push([found, call]);
      const resultType = typeof result["resultType"] === "string" ? result["resultType"] : undefined;
      const raw = Buffer.from(JSON.stringify(result), "utf8");
      return { raw, era: "modern", resultType, result, route: found.route };
    },
    isHeld: () => isHeld,
  });
  const subject = { kind: "tool", nativeName: "drop", exposedName: "a_drop", argumentsText: "{}", binding } as const;
  const answer = async (): Promise<JsonObject> => {
    const { raw } = await calls.call(binding, tool, callOf(), subject);
    const parsed: unknown = JSON.parse(Buffer.from(raw).toString("utf8"));
    return isJsonObject(parsed) ? parsed : {};
  };
  return { calls, answer, made, asked: () => question };
}

const withdrawn = { code: "approval_denied", delivery: "not_sent", details: { reason: "withdrawn" } };

describe("H-32, H-14: once a call is approved, everything is looked at again", () => {
  it("H-32: what is the same is called, as it is found then, by the approval's leave", async () => {
    const tool = toolOf();
    const now = toolOf({ route: routeOf(), pins: { permission: { value: 7, current: () => 7 } } });
    let uses = 0;
    const verdict = { ...APPROVED, use: () => (uses += 1) === 1 };
    const { answer, made } = party(tool, { now, verdict });
    await answer();
    expect(made.map(([found]) => found.route)).toEqual([now.route]);
    const pins = made[0]?.[0].pins;
    expect(pins?.permission?.value).toBe(7);
    expect([pins?.isApproved?.(), pins?.isApproved?.()]).toEqual([true, false]);
  });

  it.each<[string, Partial<FoundTool>]>([
    ["connection", { route: routeOf({ connectionId: "c-2" }) }],
    ["sign-in", { route: routeOf({ scopeEpoch: "e-2" }) }],
    ["tool of the same name", { nativeName: "drop all" }],
    ["definition", { definition: '{"name":"drop","title":"D","inputSchema":{"type":"object"}}' }],
    ["definition, which is not known any more", { definition: undefined }],
    ["contract", { contract: { parameters: [{ header: "Mcp-Param-Id", path: ["id"] }] } }],
  ])("H-32: what goes over or is another %s is not called", async (_what, more) => {
    const { answer, made } = party(toolOf(), { now: toolOf(more) });
    await expect(answer()).rejects.toMatchObject(withdrawn);
    expect(made).toEqual([]);
  });

  it("H-32: what is refused by then is refused so, and no failure says that anything was sent", async () => {
    const refusal = new RemoteConnectorError("not_permitted", { message: "off", details: { connectorKey: "a" } });
    await expect(party(toolOf(), { now: refusal }).answer()).rejects.toBe(refusal);
    const cause = new RemoteConnectorError("stream_ended", {
      message: "a list",
      delivery: "unknown",
      details: { reason: "ended" },
    });
    for (const error of [cause, new Error("a list")]) {
      await expect(party(toolOf(), { now: error }).answer()).rejects.toMatchObject({ ...withdrawn, cause: error });
    }
  });

  it("H-32: while it is asked it stands as long as it is reached over the same connection and sign-in", async () => {
    const stands = async (reached: Route<RemoteMcpClient> | undefined) => {
      const { answer, asked } = party(toolOf(), { reached });
      await answer();
      return asked()?.stillStands();
    };
    expect(await stands(routeOf())).toBe(true);
    expect(await stands(undefined)).toBe(false);
    expect(await stands(routeOf({ connectionId: "c-2" }))).toBe(false);
    expect(await stands(routeOf({ scopeEpoch: "e-2" }))).toBe(false);
  });
});

describe("H-32, H-27: the rounds of a call that was approved", () => {
  it("H-32: its server hears what the approval goes on with, and never the agent's own state", async () => {
    const continuation = { responses: undefined, state: "the server's" };
    for (const verdict of [APPROVED, { ...APPROVED, continuation }]) {
      const { answer, made } = party(toolOf(), { verdict });
      await answer();
      expect(made[0]?.[1].input?.continuation).toEqual(verdict.continuation);
      expect(made[0]?.[1].input?.capabilities).toEqual({ elicitation: {} });
    }
  });

  it("H-32: what its server asks for has a state that only this call goes on with, whether it gave one or not", async () => {
    const asks = { resultType: "input_required", inputRequests: {} };
    const sealed = async (more: object, isHeld = false) =>
      (await party(toolOf(), { result: { ...asks, ...more }, isHeld }).answer())["requestState"];
    expect(await sealed({ requestState: "theirs" })).toBe("sealed theirs");
    expect(await sealed({ requestState: "" })).toBe("sealed ");
    expect(await sealed({})).toBe("sealed undefined");
    // One that waits at its server has the state of that.
    expect(await sealed({ requestState: "held" }, true)).toBe("held");
    const done = await party(toolOf(), { result: { content: [], requestState: "theirs" } }).answer();
    expect(done["requestState"]).toBe("theirs");
  });

  it("H-32: an agent that is asked gets that, and nothing is called", async () => {
    const raw = Buffer.from('{"resultType":"input_required","requestState":"ours"}', "utf8");
    const { answer, made, calls } = party(toolOf(), { verdict: { kind: "asks", raw } });
    expect(await answer()).toEqual({ resultType: "input_required", requestState: "ours" });
    expect(made).toEqual([]);
    expect(calls.goesOn(callOf())).toBe(true);
    expect(calls.goesOn({ ...callOf(), input: { capabilities: {} } })).toBe(false);
  });
});
