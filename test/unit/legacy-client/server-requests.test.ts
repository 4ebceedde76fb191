import { describe, expect, it } from "vitest";
import { answerServerRequest } from "../../../src/legacy-client/server-requests.js";

describe("answerServerRequest", () => {
  it.each([0, "", "a", 7])("L-6: answers a ping with id %j", (id) => {
    expect(answerServerRequest({ id, method: "ping", params: undefined })).toEqual({ jsonrpc: "2.0", id, result: {} });
  });

  it.each(["roots/list", "sampling/createMessage", "elicitation/create", "other"])(
    "L-6: does not know %s",
    (method) => {
      expect(answerServerRequest({ id: 1, method, params: {} })).toMatchObject({ id: 1, error: { code: -32601 } });
    },
  );
});
