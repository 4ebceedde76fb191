import { describe, expect, it } from "vitest";
import {
  answerEvents,
  answerFeed,
  answerResult,
  dataEvent,
  EventFeed,
  messageEvent,
  notificationMessage,
  progressMessage,
  type ReceivedRequest,
  resultMessage,
} from "../../../src/testing/index.js";
import { createFetchExchange, createUndiciExchange, type Exchange } from "../../../src/transport/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { SessionServer } from "./session-server.js";

const OK = { content: [{ type: "text", text: "ok" }] };

describe.each<[string, (origin: string) => Exchange]>([
  ["fetch", (origin) => createFetchExchange({ origin })],
  ["an undici exchange of the caller's", (origin) => createUndiciExchange({ origin, maxConnections: 8 })],
])("the legacy client over %s", (_name, exchangeOf) => {
  it("F-20, L-4, L-5, L-8: calls, listens, takes streams up again, replaces a session, and ends it", async () => {
    const feed = new EventFeed();
    let call: ReceivedRequest | undefined;
    const sessions = new SessionServer({
      answer: (request) => {
        call = request;
        const { name } = request.params;
        if (name === "polled") return answerEvents([dataEvent("", { id: "p", retry: 5 })]);
        return name === "json" ? answerResult(OK) : answerEvents([progressMessage(1), resultMessage(OK)]);
      },
      listen: (request) => {
        if (request.header("last-event-id") === undefined) return answerFeed(feed);
        return answerEvents([messageEvent({ kind: "value", value: { jsonrpc: "2.0", id: call?.id, result: OK } })]);
      },
    });
    const server = await serve(sessions.handle);
    const heard: string[] = [];
    const { client } = await connectHttp(server.url, {
      exchange: exchangeOf(server.origin),
      onNotification: ({ method }) => heard.push(method),
    });
    for (const name of ["json", "stream", "polled"]) await expect(client.callTool({ name })).resolves.toEqual(OK);
    feed.send(messageEvent(notificationMessage("notifications/message")));
    await expect.poll(() => heard).toEqual(["notifications/message"]);
    sessions.forget();
    await expect(client.callTool({ name: "json" })).resolves.toEqual(OK);
    expect(sessions.initializes).toBe(2);
    await client.close();
    expect(sessions.deletes).toBe(1);
    expect(await caught(client.ping())).toMatchObject({ code: "cancelled", delivery: "not_sent" });
  });
});
