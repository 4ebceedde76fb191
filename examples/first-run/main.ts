/**
 * The whole product in one process: a gateway in front of four real MCP servers, a provider where the account authorizes one of
 * them, a connector host that publishes what the account has authorized, and two agents that use it while that changes.
 *
 * `npm start` stays up afterwards, for an agent of your own; `npm start -- --once` ends.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Client } from "@modelcontextprotocol/client";
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type BoundAgent,
  type ConnectorHost,
  openConnectorHost,
} from "remote-connector/connector-host";
import { createGateway, type Gateway } from "remote-connector/gateway";
import type { AuthorizationServer } from "remote-connector/testing";
import { callForText, connectAgent, countByConnector, listNames } from "./agents.js";
import { connectorsIn, FILE_TEXT, RELEASES } from "./connectors.js";
import { activeTokens, authorizingAt, consentAt, startProvider } from "./provider.js";
import { eventually, expect, Story } from "./story.js";
import { startWeatherServer, type WeatherServer } from "./upstreams/weather-server.js";

const ACCOUNT = "ada";
const SESSION = "session-of-ada";
const ADMIN = "admin-of-the-gateway";

const { values: flags } = parseArgs({ options: { once: { type: "boolean", default: false } } });
const folder = await mkdtemp(join(tmpdir(), "remote-connector-"));
const story = new Story();
let weather: WeatherServer | undefined;
let provider: AuthorizationServer | undefined;
let gateway: Gateway | undefined;
let host: ConnectorHost | undefined;
let bound: BoundAgent | undefined;
let modern: Client | undefined;
let legacy: Client | undefined;
/** What the person was asked to approve, and what they decide on the next call. */
const asked: ApprovalRequest[] = [];
let decision: ApprovalDecision = "approve";

try {
  await tell();
} finally {
  console.log(story.summary());
}
if (flags.once || story.failed > 0) {
  await shutDown();
  process.exitCode = story.failed > 0 ? 1 : 0;
} else {
  console.log(howToConnect(bound));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void shutDown());
}

async function tell(): Promise<void> {
  await story.step("A gateway starts in front of four real MCP servers", async () => {
    weather = await startWeatherServer();
    provider = await startProvider("memory");
    gateway = await createGateway({
      accounts: [{ accountId: ACCOUNT, sessions: [SESSION] }],
      connectors: await connectorsIn(folder, weather.url, authorizingAt(provider)),
      adminBearer: ADMIN,
    });
    return gateway.origin;
  });
  await story.step("The account has authorized three of the four connectors", async () => {
    for (const connectorId of ["everything", "files", "weather"]) await administer("grant", connectorId);
    return "everything, files, weather";
  });
  await story.step("A connector host starts with an empty store and publishes nothing", async () => {
    host = await openConnectorHost({
      baseUrl: present(gateway).origin,
      releases: RELEASES,
      accounts: { authorize: () => ({ Cookie: `session=${SESSION}` }) },
      approve: (request) => {
        asked.push(request);
        return decision;
      },
      hostInfo: { name: "first-run", version: "0.1.0" },
      stateDirectory: join(folder, "state"),
    });
    expect((await states()) === "authorization_required ×4", await states());
    return host.url;
  });
  await story.step("The account signs in: its three connectors are published, the fourth is not", async () => {
    present(host).signIn(ACCOUNT);
    return eventually(states, (text) => text === "authorization_required ×1, ready ×3");
  });
  await story.step("An agent of the modern era lists the tools", async () => {
    bound = present(host).bind({ workspaceId: "first-run", agentSessionId: "agents" });
    modern = await connectAgent("modern", bound);
    const names = await listNames(modern);
    expect(!hasTools("memory", names), names.join());
    return countByConnector(names);
  });
  await story.step("An agent of the legacy era lists the same tools", async () => {
    legacy = await connectAgent("legacy", present(bound));
    const names = await listNames(legacy);
    expect(names.join() === (await listNames(present(modern))).join(), names.join());
    return `${String(names.length)} names, spoken ${String(legacy.getNegotiatedProtocolVersion())}`;
  });
  await story.step("The modern agent calls the modern server, with a city in a header", async () => {
    const text = await callForText(present(modern), "weather_current_weather", { city: "São Paulo" });
    expect(text.includes('"city":"São Paulo"'), text);
    return text;
  });
  await story.step("Progress of a call reaches the agent step by step", async () => {
    const seen: number[] = [];
    await present(modern).callTool(
      { name: "weather_forecast", arguments: { city: "Osaka", days: 3 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(seen.join() === "1,2,3", seen.join());
    return `progress ${seen.join(", ")}`;
  });
  await story.step("The legacy agent reads a file through a legacy server", async () => {
    const path = join(folder, "shared", "hello.txt");
    const text = await callForText(present(legacy), "files_read_text_file", { path });
    expect(text === FILE_TEXT, text);
    return JSON.stringify(text);
  });
  await story.step("Both agents call side by side", async () => {
    const calls = Array.from({ length: 20 }, (_, i) =>
      callForText(present(i % 2 === 0 ? modern : legacy), "everything_echo", { message: String(i) }),
    );
    const texts = await Promise.all(calls);
    expect(
      texts.every((text, i) => text.endsWith(String(i))),
      texts.join(),
    );
    return `${String(texts.length)} calls answered`;
  });
  await story.step("A person is asked before a file is written, and approves it", async () => {
    await present(host).connectors.setPermission("files", "write_file", "ask");
    await callForText(present(modern), "files_write_file", { path: noteAt(), content: "approved" });
    expect((await readFile(noteAt(), "utf8")) === "approved", "nothing was written");
    expect(asked.length === 1, `asked ${String(asked.length)} times`);
    return `${String(asked[0]?.toolName)} of ${String(asked[0]?.connectorName)} was approved`;
  });
  await story.step("They deny the next one: nothing is written, and the agent hears why", async () => {
    decision = "deny";
    const error: unknown = await callForText(present(legacy), "files_write_file", {
      path: noteAt(),
      content: "denied",
    }).catch((caught: unknown) => caught);
    expect(error instanceof Error, "the call went through");
    expect((await readFile(noteAt(), "utf8")) === "approved", "it was written all the same");
    expect(asked.length === 2, `asked ${String(asked.length)} times`);
    return error instanceof Error ? error.message : "";
  });
  await story.step("A tool of the connector that is not authorized can't be called", async () => {
    const error: unknown = await callForText(present(modern), "memory_read_graph", {}).catch(
      (caught: unknown) => caught,
    );
    expect(error instanceof Error, "the call went through");
    return error instanceof Error ? error.message : "";
  });
  await story.step("The account authorizes the fourth in a browser: its tools appear, without a restart", async () => {
    const { nextAction, result } = await present(host).authorize("memory");
    if (nextAction?.type !== "redirect") throw new Error("nobody is sent anywhere");
    const page = await consentAt(nextAction.url);
    const { published, reason } = await result;
    expect(published, `${String(reason)}; the last page says: ${page}`);
    const names = await listNames(present(modern));
    expect(hasTools("memory", names), names.join());
    return countByConnector(names);
  });
  await story.step("The new tools work in both eras", async () => {
    const entities = [{ name: "Ada", entityType: "person", observations: ["wrote the first program"] }];
    await callForText(present(legacy), "memory_create_entities", { entities });
    const text = await callForText(present(modern), "memory_read_graph", {});
    expect(text.includes("wrote the first program"), text);
    return "written by one agent, read by the other";
  });
  await story.step("The account disconnects it: they vanish, and the provider takes its tokens back", async () => {
    await present(host).disconnect("memory");
    await eventually(states, (text) => text === "authorization_required ×1, ready ×3");
    const names = await listNames(present(legacy));
    expect(!hasTools("memory", names), names.join());
    await eventually(
      () => Promise.resolve(activeTokens(present(provider))),
      (left) => left === 0,
    );
    return countByConnector(names);
  });
  await story.step("Another one is revoked from outside: it vanishes too", async () => {
    await administer("revoke", "weather");
    await eventually(states, (text) => text === "authorization_required ×2, ready ×2");
    const names = await listNames(present(legacy));
    expect(!hasTools("weather", names), names.join());
    const error: unknown = await callForText(present(legacy), "weather_list_cities", {}).catch(
      (caught: unknown) => caught,
    );
    expect(error instanceof Error, "the call went through");
    return countByConnector(names);
  });
  await story.step("The others never noticed", async () => {
    const text = await callForText(present(legacy), "everything_echo", { message: "still here" });
    expect(text.includes("still here"), text);
    expect((await states()) === "authorization_required ×2, ready ×2", await states());
    return await states();
  });
}

/** Changes what the account has authorized, as a control plane would. */
async function administer(action: "grant" | "revoke", connectorId: string): Promise<void> {
  const response = await fetch(`${String(present(gateway).adminOrigin)}/admin/${action}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${ADMIN}`, "Content-Type": "application/json" },
    body: JSON.stringify({ accountId: ACCOUNT, connectorId }),
  });
  expect(response.ok, `${action} answered ${String(response.status)}`);
}

/** How many connectors are at what: `ready ×3`. */
async function states(): Promise<string> {
  const counts = new Map<string, number>();
  for (const { state } of await present(host).status()) counts.set(state, (counts.get(state) ?? 0) + 1);
  return Array.from(counts, ([state, count]) => `${state} ×${String(count)}`)
    .sort()
    .join(", ");
}

/** The file that is written when a person approves. */
function noteAt(): string {
  return join(folder, "shared", "note.txt");
}

function hasTools(connectorId: string, names: readonly string[]): boolean {
  return names.some((name) => name.startsWith(`${connectorId}_`));
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("an earlier step failed");
  return value;
}

function howToConnect(agent: BoundAgent | undefined): string {
  const { url, headers } = present(agent);
  const server = { type: "http", url, headers };
  return [
    "",
    "The local server stays up. Point an agent at it:",
    "",
    JSON.stringify({ mcpServers: { connector: server } }, null, 2),
    "",
    `or: claude mcp add --transport http connector ${url} --header "Authorization: ${headers.Authorization}"`,
    "",
    "Ctrl-C ends it.",
  ].join("\n");
}

async function shutDown(): Promise<void> {
  await Promise.allSettled([modern?.close(), legacy?.close()]);
  await host?.close();
  await gateway?.close();
  await Promise.all([weather?.close(), provider?.close()]);
  await rm(folder, { recursive: true, force: true });
}
