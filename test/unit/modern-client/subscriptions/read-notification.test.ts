import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { readNotification } from "../../../../src/modern-client/subscriptions/read-notification.js";
import { readEnd, readRefusal } from "../../../../src/modern-client/subscriptions/subscription-end.js";
import { checkFilter, parseAcknowledged } from "../../../../src/modern-client/subscriptions/subscription-filter.js";
import { peerError } from "../../../../src/protocol/index.js";

const ID = "io.modelcontextprotocol/subscriptionId";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const TOOLS = "notifications/tools/list_changed";
const read = (
  method: string,
  { id = 7, acknowledged, ...params }: Record<string, unknown> & { acknowledged?: object } = {},
) =>
  readNotification(
    { id: 7, acknowledged: acknowledged === undefined ? undefined : { ...acknowledged } },
    { method, params: id === null ? params : { _meta: { [ID]: id }, ...params } },
  );

describe("readNotification", () => {
  it("W-36: the acknowledgement comes first, and only what it says is claimed", () => {
    const notifications = { toolsListChanged: true, promptsListChanged: "yes", resourceSubscriptions: ["a:b"], x: 1 };
    const filter = { toolsListChanged: true, resourceSubscriptions: ["a:b"], x: 1 };
    expect(read(ACKNOWLEDGED, { notifications })).toEqual({ kind: "acknowledged", filter, diagnostic: undefined });
    expect(read(ACKNOWLEDGED)).toMatchObject({ kind: "acknowledged", filter: {} });
    expect(read(ACKNOWLEDGED, { acknowledged: {} })).toMatchObject({
      kind: "skip",
      diagnostic: { kind: "acknowledged_again" },
    });
  });

  it("W-36: what comes before the acknowledgement is a diagnostic", () => {
    expect(read(TOOLS)).toMatchObject({ kind: "skip", diagnostic: { kind: "before_acknowledgement", subject: TOOLS } });
  });

  it("W-36: what is another subscription's is a diagnostic; an id is compared with its decimal form too", () => {
    const acknowledged = { toolsListChanged: true };
    expect(read(TOOLS, { acknowledged })).toEqual({ kind: "deliver", diagnostic: undefined });
    expect(read(TOOLS, { acknowledged, id: null })).toEqual({ kind: "deliver", diagnostic: undefined });
    expect(read(TOOLS, { acknowledged, id: "7" })).toMatchObject({
      kind: "deliver",
      diagnostic: { kind: "id_echoed_as_string" },
    });
    for (const id of [0, "", 8, "07", false, {}]) {
      expect(read(TOOLS, { acknowledged, id })).toMatchObject({
        kind: "skip",
        diagnostic: { kind: "other_subscription" },
      });
    }
    expect(read(ACKNOWLEDGED, { id: 8 })).toMatchObject({ kind: "skip", diagnostic: { kind: "other_subscription" } });
  });

  it.each([
    ["notifications/tools/list_changed", { toolsListChanged: true }],
    ["notifications/prompts/list_changed", { promptsListChanged: true }],
    ["notifications/resources/list_changed", { resourcesListChanged: true }],
    ["notifications/resources/updated", { resourceSubscriptions: ["file:///a"] }],
  ])("W-36: %s is delivered, with a diagnostic when it was not acknowledged", (method, acknowledged) => {
    const uri = "file:///a/below";
    expect(read(method, { acknowledged, uri })).toEqual({ kind: "deliver", diagnostic: undefined });
    expect(read(method, { acknowledged: {}, uri })).toMatchObject({
      kind: "deliver",
      diagnostic: { kind: "not_acknowledged" },
    });
  });

  it("W-36: a cancellation of its request ends it, one of another does not", () => {
    const method = "notifications/cancelled";
    expect(read(method, { requestId: 7, reason: "bye\n" })).toMatchObject({ kind: "ended" });
    expect(read(method, { requestId: 8 })).toMatchObject({ kind: "skip", diagnostic: { kind: "other_subscription" } });
    expect(read(method)).toMatchObject({ kind: "skip" });
  });

  it("W-36: a filter that breaks the schema is not sent", () => {
    expect(() => checkFilter(JSON.parse('{"toolsListChanged":1}'))).toThrow(/toolsListChanged/);
    expect(() => checkFilter(JSON.parse('{"resourceSubscriptions":"a"}'))).toThrow(/resourceSubscriptions/);
    expect(() => checkFilter(JSON.parse("[]"))).toThrow(/object/);
    expect(() => checkFilter({ taskIds: ["1"] })).not.toThrow();
    expect(parseAcknowledged({ notifications: { resourceSubscriptions: [1] } })).toEqual({});
  });
});

describe("readEnd", () => {
  const error = (code: number, httpStatus?: number) =>
    peerError({ code, message: "no", data: undefined }, { httpStatus });

  it("W-36: a result completes; an error refuses before the acknowledgement and breaks after it", () => {
    const failed = { kind: "failed", error: error(-32603) } as const;
    expect(readEnd(failed, false)).toEqual({ kind: "refused", why: "other", error: failed.error });
    expect(readEnd(failed, true)).toEqual({ kind: "broken", error: failed.error });
    const result = { a: 1 };
    expect(readEnd({ kind: "result", result, idAsString: false }, true)).toEqual({ kind: "completed", result });
    expect(readEnd({ kind: "asks", result, idAsString: false }, false)).toMatchObject({
      error: { code: "invalid_answer" },
    });
  });

  it.each([
    [error(-32601, 404), "unsupported"],
    [error(-32021, 400), "missing_capability"],
    [error(-32603, 401), "authorization"],
    [error(-32603, 403), "authorization"],
    [error(-33001), "authorization"],
    [error(-32603, 500), "other"],
    [new RemoteConnectorError("stream_ended", { message: "", details: { reason: "" } }), "other"],
  ])("W-37: %s is refused as %s", (refusal, why) => {
    expect(readRefusal(refusal)).toBe(why);
  });
});
