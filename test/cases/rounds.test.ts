import { describe, expect, it } from "vitest";
import { RawJson } from "../../src/protocol/index.js";
import { answerResult } from "../../src/testing/index.js";
import { CALL, connectTo, OK, PLAIN, serve } from "./parties.js";

const REQUESTS =
  '{"k":{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}}}';

const asking = (state: string) =>
  answerResult(new RawJson(`{"resultType":"input_required","inputRequests":${REQUESTS}${state}}`));

describe("rounds of input", () => {
  it("MB-066: the state of a round comes back changed, or is made up where there was none", async () => {
    const state = `"\\u5de5\\/ \\ud83d\\ude00 ${"x".repeat(20_000)}  "`;
    const finished = answerResult({ resultType: "complete", ...OK });
    const isEndless = (params: object): boolean => JSON.stringify(params).includes('"name":"endless"');
    const server = await serve(
      [
        { params: isEndless, times: { atLeast: 4, atMost: 4 }, answer: asking(',"requestState":"s"') },
        { answer: asking(`,"requestState":${state}`) },
        { answer: asking("") },
        { answer: finished },
        { params: { name: "other" }, answer: finished },
      ],
      { order: "any" },
    );
    const { client } = connectTo(server.url, {
      handlers: { elicitation: { form: () => ({ action: "accept", content: {} }) } },
      maxInputRounds: 3,
    });
    await expect(client.callTool(CALL, PLAIN)).resolves.toMatchObject(OK);
    const rounds = [...server.requests];
    expect(rounds.map(({ params }) => params["requestState"])).toEqual([undefined, JSON.parse(state), undefined]);
    expect(rounds[2]?.text).not.toContain("requestState");
    expect(new Set(rounds.map(({ id }) => id)).size).toBe(3);
    const endless = client.callTool({ name: "endless" }, PLAIN);
    const other = client.callTool({ name: "other" }, PLAIN);
    await expect(endless).rejects.toMatchObject({ code: "limit_exceeded", details: { option: "maxInputRounds" } });
    await expect(other).resolves.toMatchObject(OK);
  });
});
