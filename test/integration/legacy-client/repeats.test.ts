import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { answerRedirect, answerResult, answerStatus, ScriptedServer } from "../../../src/testing/index.js";
import { caught, connectHttp, serve } from "./http-parties.js";
import { SessionServer } from "./session-server.js";

describe("repeats: never, to a legacy server", () => {
  it.each([
    ["safe", undefined, 2],
    ["never", { code: "peer_error", delivery: "answered" }, 1],
  ] as const)("L-3 H-33: what met a session that is gone, %s", async (repeats, failure, calls) => {
    const sessions = new SessionServer();
    const server = await serve(sessions.handle);
    const { client } = await connectHttp(server.url);
    sessions.forget();
    const outcome = await caught(client.callTool({ name: "t" }, { repeats }));
    if (failure === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toMatchObject(failure);
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(calls);
    // The next one finds a new session.
    await client.callTool({ name: "t" });
    expect(sessions.initializes).toBe(2);
  });

  it.each([
    ["safe", 3],
    ["never", 1],
  ] as const)("F-11: a read whose failure may pass, %s", async (repeats, sent) => {
    const server = await serve(new SessionServer({ answer: () => answerStatus(503) }).handle);
    const { client } = await connectHttp(server.url, { random: () => 0 });
    expect(await caught(client.listTools({}, { repeats }))).toMatchObject({ code: "unexpected_answer" });
    expect(server.requests.filter(({ method }) => method === "tools/list")).toHaveLength(sent);
  });

  it.each([
    ["safe", 2],
    ["never", 1],
  ] as const)("F-11: a call that finds no connection, %s", async (repeats, attempts) => {
    const server = await ScriptedServer.start(new SessionServer().handle);
    let asked = 0;
    const authorize = (): Record<string, string> => {
      asked += 1;
      return {};
    };
    const { client } = await connectHttp(server.url, { authorize, listen: "never" });
    await server.close();
    // Until the pool has seen that its connection is gone.
    await pause(50);
    asked = 0;
    expect(await caught(client.callTool({ name: "t" }, { repeats }))).toMatchObject({ delivery: "not_sent" });
    expect(asked).toBe(attempts);
  });

  it.each([
    ["safe", 4, "more than 3 redirects in a row"],
    ["never", 1, "no redirect is followed"],
  ] as const)("F-14 H-33: a redirect that could be followed, %s", async (repeats, sent, reason) => {
    const away = () => answerRedirect(307, "?again");
    const server = await serve(new SessionServer({ answer: away }).handle);
    const { client } = await connectHttp(server.url);
    expect(await caught(client.callTool({ name: "t" }, { repeats }))).toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
      details: { reason },
    });
    expect(server.requests.filter(({ method }) => method === "tools/call")).toHaveLength(sent);
  });

  it("takes nothing else for it", async () => {
    const server = await serve(new SessionServer({ answer: () => answerResult({ content: [] }) }).handle);
    const { client } = await connectHttp(server.url);
    const odd = JSON.parse('{"repeats":"once"}');
    expect(await caught(client.callTool({ name: "t" }, odd))).toMatchObject({
      code: "invalid_options",
      details: { option: "repeats" },
    });
  });
});
