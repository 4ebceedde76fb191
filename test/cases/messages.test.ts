import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../src/errors.js";
import { RawJson } from "../../src/protocol/index.js";
import {
  answerError,
  answerEvents,
  answerResult,
  errorMessage,
  progressMessage,
  requestMessage,
  resultMessage,
  streamText,
  stallAt,
  withFaults,
} from "../../src/testing/index.js";
import { CALL, meet, OK, PLAIN } from "./parties.js";

describe("messages", () => {
  it("MB-016: an error with the id null never reaches its caller", async () => {
    const { client } = await meet([
      answerError(-32600, "bad", { id: "null", status: 400 }),
      answerError(-32600, "bad", { id: "null", status: 401 }),
      answerError(-32600, "bad", { id: "null", status: 200 }),
      answerError(-32600, "bad", { id: "absent", status: 200 }),
      answerEvents([errorMessage(-32600, "bad", { id: "null" })]),
    ]);
    for (const httpStatus of [400, 401, 200, 200, 200]) {
      await expect(client.callTool(CALL, PLAIN)).rejects.toMatchObject({
        code: "peer_error",
        delivery: "answered",
        details: { rpcCode: -32600, rpcMessage: "bad", httpStatus },
      });
    }
  });

  it("MB-017: a request of the server with the id of the call is taken for its response", async () => {
    const { client, kinds } = await meet([
      ({ id }) => answerEvents([requestMessage(id ?? "", "sampling/createMessage", {}), resultMessage(OK)]),
    ]);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    // This revision has no such requests: it is not answered, and told of.
    expect(kinds()).toEqual(["server_request"]);
  });

  it("MB-022: a response whose id came back as a string is matched to nothing", async () => {
    const { client, kinds, server } = await meet([
      answerResult(OK, { id: "string" }),
      answerEvents([resultMessage(OK, "string")]),
      answerEvents([
        resultMessage({ content: [] }, { other: "3x" }),
        resultMessage(OK, { other: 4 }),
        resultMessage(OK),
      ]),
    ]);
    for (let i = 0; i < 3; i += 1) await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
    expect(kinds()).toEqual(["id_echoed_as_string", "id_echoed_as_string", "unmatched_response", "unmatched_response"]);
    expect(server.requests.map(({ id }) => typeof id)).toEqual(["number", "number", "number"]);
  });

  it("MB-026: a number beyond 2^53 makes serializing the result throw", async () => {
    const json =
      '{"content":[],"structuredContent":{"n":12345678901234567891,"f":0.1000000000000000055511151231257827}}';
    const { client } = await meet([
      answerResult(new RawJson(json)),
      answerEvents([streamText(`data: {"jsonrpc":"2.0","id":2,"result":${json}}\n\n`)]),
    ]);
    for (let i = 0; i < 2; i += 1) {
      const { result, raw } = await client.callTool(CALL, { ...PLAIN, detail: true });
      expect(() => JSON.stringify(result)).not.toThrow();
      expect(Buffer.from(raw).toString()).toBe(json);
    }
  });

  it("MB-027: the reason of an abort is sent to the server, or reported as a timeout", async () => {
    const { client, server } = await meet([withFaults(answerResult(OK), stallAt(10))]);
    const reason = new Error("internal detail 42");
    const controller = new AbortController();
    const promise = client.callTool(CALL, { ...PLAIN, signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(reason);
    await expect(promise).rejects.toBe(reason);
    expect(deliveryOf(promise)).toBe("unknown");
    // In this revision the end of the connection is the cancellation: nothing else is sent.
    await expect.poll(() => server.openConnections).not.toContain(0);
    expect(server.requests).toHaveLength(1);
    expect(server.requests.map(({ text }) => text).join("")).not.toContain("detail");
  });

  it("MB-031: progress for a token that was never issued fails the call", async () => {
    const events = [progressMessage(1, { progressToken: "tool-call-3" }), progressMessage(2), resultMessage(OK)];
    const { client } = await meet([answerEvents(events)]);
    const seen: number[] = [];
    const onProgress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await expect(client.callTool(CALL, { ...PLAIN, onProgress })).resolves.toEqual(OK);
    expect(seen).toEqual([2]);
    await expect(client.callTool(CALL, PLAIN)).resolves.toEqual(OK);
  });
});
