import { describe, expect, it } from "vitest";
import { likeLegacyServer } from "../../../src/testing/index.js";
import { connectHttp, type HttpParty, serve } from "./http-parties.js";

const wrong = JSON.parse("null");
const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} };

async function party(): Promise<HttpParty> {
  const server = await serve(likeLegacyServer({ capabilities }));
  return connectHttp(server.url);
}

describe("arguments of a wrong type", () => {
  const methods: Readonly<Record<string, (party: HttpParty) => Promise<unknown>>> = {
    callTool: ({ client }) => client.callTool(wrong),
    complete: ({ client }) => client.complete(wrong),
    getPrompt: ({ client }) => client.getPrompt(wrong),
    readResource: ({ client }) => client.readResource(wrong),
    request: ({ client }) => client.request(wrong),
    setLogLevel: ({ client }) => client.setLogLevel(wrong),
    subscribeResource: ({ client }) => client.subscribeResource(wrong),
    unsubscribeResource: ({ client }) => client.unsubscribeResource(wrong),
  };

  it("F-2: reject, and throw nothing", async () => {
    const made = await party();
    for (const [name, call] of Object.entries(methods)) {
      await expect(call(made), name).rejects.toMatchObject({ code: "invalid_argument", delivery: "not_sent" });
    }
  });
});
