import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/connect/index.js";
import { isRemoteConnectorError } from "../../src/errors.js";
import { answerStatus, type Handler, likeSseServer } from "../../src/testing/index.js";
import { CALL, caught, OK, serve } from "./parties.js";

const clientInfo = { name: "cases", version: "1" };
const old = likeSseServer({ tools: [{ name: "t", run: () => OK }] });

describe("which transport a server has", () => {
  it("MB-068: the oldest transport is tried after any failure, and its refusal hides the real one", async () => {
    for (const status of [401, 403, 429, 500, 503]) {
      const server = await serve(({ verb }) => answerStatus(verb === "POST" ? status : 405));
      const connecting = connect({ endpoint: server.url, clientInfo, maxReadRetries: 0 });
      expect(await caught(connecting)).toMatchObject({ code: "unexpected_answer", details: { status } });
      const legacy = connect({ endpoint: server.url, clientInfo, revisions: ["2025-11-25", "2024-11-05"] });
      expect(await caught(legacy)).toMatchObject({ code: "unexpected_answer", details: { status } });
      expect(server.requests.filter(({ verb }) => verb === "GET")).toEqual([]);
    }
    const server = await serve(({ verb }) => answerStatus(verb === "POST" ? 405 : 503));
    const error = await caught(connect({ endpoint: server.url, clientInfo, revisions: ["2025-11-25"] }));
    const cause = isRemoteConnectorError(error, "unexpected_answer") ? error.cause : undefined;
    expect([error, cause]).toMatchObject([{ details: { status: 405 } }, { details: { status: 503 } }]);
  });

  it("MB-074: a 400 of a server of the oldest transport is tried again until the deadline", async () => {
    const handle: Handler = (request) =>
      request.verb === "POST" && request.path === "/mcp" ? answerStatus(400) : old(request);
    const server = await serve(handle);
    const client = await connect({ endpoint: server.url, clientInfo });
    onTestFinished(() => client.close());
    await expect(client.callTool(CALL)).resolves.toEqual(OK);
    expect(server.requests.slice(0, 3).map(({ method, verb }) => method ?? verb)).toEqual([
      "server/discover",
      "initialize",
      "GET",
    ]);
  });
});
