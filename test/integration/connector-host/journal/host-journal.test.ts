import { mkdir, mkdtemp, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type ConnectorHost,
  type OpenConnectorHostOptions,
  openConnectorHost,
} from "../../../../src/connector-host/index.js";
import {
  answerError,
  answerRedirect,
  answerResult,
  Gate,
  type Handler,
  likeModernServer,
  type MethodHandler,
  ScriptedServer,
} from "../../../../src/testing/index.js";
import { openSqliteJournalRows, openSqliteStore } from "../../../../src/store/index.js";
import { RawAgent } from "../../../support/agent.js";

const opened: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

async function stateDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "host-journal-"));
  opened.push({ close: () => rm(directory, { recursive: true, force: true }) });
  return directory;
}

/** A server with the tool `note`; `calls` counts the requests of it that came. */
async function serve(run: MethodHandler = () => ({ content: [] }), around = (handler: Handler): Handler => handler) {
  const seen = { calls: 0 };
  const note: MethodHandler = (request, call) => {
    seen.calls += 1;
    return run(request, call);
  };
  const prompt = { name: "greet" };
  const resource = { name: "one", uri: "https://me:pw@host.example/one?key=t0p" };
  const server = await ScriptedServer.start(
    around(
      likeModernServer({
        tools: [{ name: "note", run: note }],
        capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
        methods: {
          "prompts/list": () => ({ prompts: [prompt] }),
          "prompts/get": () => ({ messages: [] }),
          "resources/list": () => ({ resources: [resource] }),
          "resources/templates/list": () => ({ resourceTemplates: [] }),
          "resources/read": () => answerError(-32602, "gone"),
          "completion/complete": () => ({ completion: { values: [] } }),
        },
      }),
    ),
  );
  opened.push(server);
  return { url: server.url, seen };
}

async function open(endpoint: string, options: Partial<OpenConnectorHostOptions> = {}) {
  const host = await openConnectorHost({
    hostInfo: { name: "test", version: "1.0.0" },
    controlSocket: false,
    agentSocket: false,
    contracts: "last_list",
    registrations: [
      {
        slug: "docs",
        displayName: "Docs",
        settings: { endpoint },
        capabilities: ["tools", "prompts", "resources"],
      },
    ],
    ...options,
  });
  opened.push(host);
  await vi.waitFor(async () => expect((await host.status())[0]?.state).toBe("ready"), { timeout: 10_000, interval: 5 });
  return { host, agent: new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" })) };
}

async function rowsOf(host: ConnectorHost) {
  const rows = await host.journal?.list();
  return (rows ?? []).toReversed();
}

describe("the journal of a host", () => {
  it("H-35, F-1: has each call, prompt, resource and completion of agents, with its verdict", async () => {
    const { url } = await serve();
    const { host, agent } = await open(url, { stateDirectory: await stateDirectory() });
    await agent.call("docs_note", { q: 1 });
    await agent.send("prompts/list");
    await agent.send("resources/list");
    await agent.send("prompts/get", { name: "docs_greet", arguments: { who: "Ada" } });
    await agent.send("resources/read", { uri: "https://me:pw@host.example/one?key=t0p" });
    await agent.send("completion/complete", {
      ref: { type: "ref/prompt", name: "docs_greet" },
      argument: { name: "who", value: "A" },
    });
    const rows = await rowsOf(host);
    expect(rows.map(({ kind, nativeName, verdict, errorCode }) => [kind, nativeName, verdict, errorCode])).toEqual([
      ["tool", "note", "answered", undefined],
      ["prompt", "greet", "answered", undefined],
      ["resource", "https://host.example/one?key=…", "answered", expect.any(String)],
      ["completion", "greet", "answered", undefined],
    ]);
    expect(rows[0]).toMatchObject({
      connectorKey: "docs",
      scope: "device",
      exposedName: "docs_note",
      workspaceId: "w",
      agentSessionId: "s",
      argumentBytes: 7,
      argumentBody: undefined,
      isError: false,
      resultType: "complete",
    });
    expect(JSON.stringify(rows)).not.toContain("t0p");
  });

  it("H-35: is there with a state directory, and outlasts the host; not without one, nor by option", async () => {
    const { url } = await serve();
    expect((await open(url)).host.journal).toBeUndefined();
    const directory = await stateDirectory();
    const first = await open(url, { stateDirectory: directory });
    await first.agent.call("docs_note");
    await first.host.close();
    const second = await open(url, { stateDirectory: directory, journal: { bodies: "redacted" } });
    await second.agent.call("docs_note", { token: "t0p" });
    expect((await rowsOf(second.host)).map(({ argumentBody }) => argumentBody)).toEqual([
      undefined,
      '{"token":"[redacted]"}',
    ]);
    await second.host.close();
    const third = await open(url, { stateDirectory: directory, journal: false });
    expect(third.host.journal).toBeUndefined();
  });

  it("H-35: each attempt has a row before it is sent", async () => {
    let isMoved = true;
    const held = new Gate();
    const { url, seen } = await serve(undefined, (handler) => async (request) => {
      if (request.method !== "tools/call") return handler(request);
      if (isMoved) {
        isMoved = false;
        return answerRedirect(307, "/moved");
      }
      await held.opened;
      return handler(request);
    });
    const { host, agent } = await open(url, { stateDirectory: await stateDirectory() });
    const call = agent.call("docs_note");
    await vi.waitFor(async () => expect(await rowsOf(host)).toHaveLength(2));
    expect((await rowsOf(host)).map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, "superseded"],
      [2, "running"],
    ]);
    held.open();
    await call;
    const rows = await rowsOf(host);
    expect(rows.map(({ state, verdict }) => [state, verdict])).toEqual([
      ["superseded", undefined],
      ["ended", "answered"],
    ]);
    expect(seen.calls).toBe(1);
  });

  it("H-35: what can't be written down is not sent, and the connector is not at fault; by option it is sent", async () => {
    const { url, seen } = await serve();
    for (const onUnavailable of ["refuse", "go_on"] as const) {
      seen.calls = 0;
      const directory = await stateDirectory();
      const { host, agent } = await open(url, { stateDirectory: directory, journal: { onUnavailable } });
      await unlink(join(directory, "calls.db"));
      const { error, result } = await agent.call("docs_note");
      if (onUnavailable === "refuse") {
        expect(error?.data).toMatchObject({
          "sh.tutti/delivery": { code: "journal_unavailable", delivery: "not_sent" },
        });
      } else expect(result).toBeDefined();
      expect(seen.calls).toBe(onUnavailable === "refuse" ? 0 : 1);
      expect((await host.status())[0]?.state).toBe("ready");
    }
  });

  it("H-35: a journal that can't be opened keeps the host from starting, which leaves nothing held; by option it does not", async () => {
    const { url } = await serve();
    const directory = await stateDirectory();
    await mkdir(join(directory, "calls.db"));
    await expect(open(url, { stateDirectory: directory })).rejects.toMatchObject({ code: "store_unavailable" });
    const store = await openSqliteStore({ directory });
    await store.close();
    const errors: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) };
    const { host, agent } = await open(url, {
      stateDirectory: directory,
      journal: { onUnavailable: "go_on" },
      logger,
    });
    expect((await agent.call("docs_note")).result).toBeDefined();
    expect(host.journal).toBeUndefined();
    expect(errors).toEqual(["The journal can't be opened: requests are not written down."]);
  });

  it("H-35: options are checked when the host is opened, and nothing stays held then", async () => {
    const { url } = await serve();
    const directory = await stateDirectory();
    // @ts-expect-error -- what a caller in JavaScript can do
    await expect(open(url, { stateDirectory: directory, journal: { maxrows: 5 } })).rejects.toMatchObject({
      details: { option: "maxrows", suggestion: "maxRows" },
    });
    const rows = await openSqliteJournalRows({ directory });
    await rows.close();
  });

  it.each([false, true])(
    "H-40: closing (force: %s) writes what became of calls before the file is closed",
    async (force) => {
      const held = new Gate();
      opened.push({ close: () => held.open() });
      const { url, seen } = await serve(async () => {
        await held.opened;
        return answerResult({ content: [] });
      });
      const directory = await stateDirectory();
      const { host, agent } = await open(url, { stateDirectory: directory });
      const calls = [1, 2, 3].map(() => agent.call("docs_note").catch(() => undefined));
      await vi.waitFor(() => expect(seen.calls).toBe(3));
      await host.close({ force });
      await Promise.all(calls);
      const rows = await openSqliteJournalRows({ directory });
      opened.push(rows);
      // Ended by those who saw it: what a later process makes of a row has no time.
      expect(rows.page(undefined, 9).map(({ end }) => [end?.verdict, typeof end?.endedAt])).toEqual(
        [1, 2, 3].map(() => ["unknown", "number"]),
      );
    },
  );
});
