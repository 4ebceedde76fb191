import { createRequire } from "node:module";
import { afterAll, describe, expect, it } from "vitest";
import { connect, type McpClient } from "../../../src/connect/index.js";
import { Cleanup, startGateway, stdioConnector } from "../gateway/support.js";
import { becomes, HostParties } from "./host-parties.js";

const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const cleanup = new Cleanup();
const parties = new HostParties();
let agent: Promise<McpClient> | undefined;

/** The agent of all tests here: the server behind it is slow to start. */
function theAgent(): Promise<McpClient> {
  agent ??= setUp();
  return agent;
}

async function setUp(): Promise<McpClient> {
  const connector = stdioConnector("everything", [everything], "account");
  const offers = ["completions", "prompts", "resources", "subscriptions"] as const;
  const gateway = await startGateway(cleanup, [{ ...connector, offers }]);
  await gateway.grant("ada", "everything");
  const { host } = await parties.host({ url: gateway.origin }, ["everything"], {
    accounts: { authorize: () => ({ Cookie: "session=s-ada" }) },
    capabilities: { everything: ["tools", "prompts", "resources"] },
  });
  host.signIn("ada");
  await becomes(host, { everything: "ready" });
  const { url, headers } = host.bind({ workspaceId: "w", agentSessionId: "s" });
  const client = await connect({ endpoint: url, headers, clientInfo: { name: "agent", version: "1" } });
  parties.opened.push(client);
  return client;
}

afterAll(async () => {
  await parties.opened.close();
  await cleanup.run();
});

describe("an agent of a host, through the gateway, to a real server", () => {
  it("H-4, H-18: gets a prompt under the connector's name, and has its arguments completed", async () => {
    const client = await theAgent();
    const { entries } = await client.listAllPrompts();
    const prompt = entries.find(({ name }) => name.startsWith("everything_completable"));
    const name = prompt?.name ?? "";
    expect(prompt?.title).toBe("Team Management");
    const args = { department: "Sales", name: "Eve" };
    expect(JSON.stringify(await client.getPrompt({ name, arguments: args }))).toContain("promote Eve");
    const ref = { type: "ref/prompt", name };
    const context = { arguments: { department: "Sales" } };
    const { completion } = await client.complete({ ref, argument: { name: "name", value: "E" }, context });
    expect(completion.values).toEqual(["Eve"]);
    await expect(client.getPrompt({ name: "everything_none" })).rejects.toMatchObject({
      code: "peer_error",
      delivery: "answered",
    });
  });

  it("H-28: reads a resource that a list showed, and one that a template has", async () => {
    const client = await theAgent();
    const [resource] = (await client.listAllResources()).entries;
    const uri = resource?.uri ?? "";
    expect((await client.readResource({ uri })).contents).toMatchObject([{ uri }]);
    const text = "demo://resource/dynamic/text/7";
    expect((await client.readResource({ uri: text })).contents).toMatchObject([{ uri: text }]);
    await expect(client.readResource({ uri: "nobody://has/this" })).rejects.toMatchObject({
      code: "resource_not_found",
    });
  });

  it("H-28: hears of a resource's changes, as long as it listens", async () => {
    const client = await theAgent();
    const [resource] = (await client.listAllResources()).entries;
    const uri = resource?.uri ?? "";
    const subscription = client.listen({ resourceSubscriptions: [uri, "nobody://has/this"] });
    expect(await subscription.acknowledged).toEqual({ resourceSubscriptions: [uri] });
    subscription.close();
  });
});
