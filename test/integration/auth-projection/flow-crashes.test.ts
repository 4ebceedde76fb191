import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  AuthorizationFlows,
  FlowClient,
  type FlowRow,
  type FlowState,
  LoginGuard,
  Readiness,
  SnapshotClient,
  SnapshotSync,
} from "../../../src/auth-projection/index.js";
import type { Gateway } from "../../../src/gateway/index.js";
import { openSqliteStore, type Store, type StoreTx } from "../../../src/store/index.js";
import { AuthorizationServer } from "../../../src/testing/index.js";
import { admin, authorizingConnector, Cleanup, control, sessionOf, startGateway } from "../gateway/support.js";
import { type CompiledStore, compileStore, type StoreProgram } from "../store/store-program.js";

const SECRET = "key-of-ada-5d20";
const CLIENT = {
  clientId: "gateway",
  clientSecret: "s3cr3t",
  redirectUris: ["http://127.0.0.1/v1/connector-authorizations/callback/oauth"],
};

/**
 * One login of `ada` that authorizes `args[2]`, and is killed at `args[3]`. Everything is real but the moment of the kill. The
 * page is visited as soon as it is known.
 */
const PROGRAM = `
  import { AuthorizationFlows, FlowClient, LoginGuard, Readiness, SnapshotClient, SnapshotSync } from "./auth-projection/index.js";
  const [directory, controlBase, connectorKey, stopAt, given] = args;
  const die = () => { process.kill(process.pid, "SIGKILL"); return new Promise(() => setTimeout(() => {}, 60_000)); };
  const at = (point, value) => (point === stopAt ? die() : value);
  const store = await openSqliteStore({ directory });
  const logins = new LoginGuard({ authorize: () => ({ Cookie: "session=s-ada" }) });
  const login = logins.signIn("ada");
  const client = new FlowClient({ controlBase, login, logins });
  const sessions = {
    begin: async (...request) => { await at("row"); return at("posted", await client.begin(...request)); },
    complete: async (...request) => { await at("session"); return at("completed", await client.complete(...request)); },
    observe: (...request) => client.observe(...request),
    end: (...request) => client.end(...request),
    disconnect: async (...request) => { await client.disconnect(...request); return at("disconnected"); },
  };
  const source = new SnapshotClient({ controlBase, login, logins });
  let flows;
  const sync = new SnapshotSync({ login, logins, scopeEpoch: "e", readiness: new Readiness(), source, store,
    onChanged: () => undefined, onEvent: (event) => flows.synchronized(event) });
  const watched = {
    read: (work) => store.read(work),
    write: (work) => store.write(async (tx) => { const result = await work(tx);
      if (stopAt === "within") for (const row of await tx.flows.list("ada")) if (row !== undefined) await die();
      return result; }),
  };
  flows = new AuthorizationFlows({ login, logins, sessions, store: watched, sync,
    convergence: {
      published: async () => ({ reached: true }),
      withdrawn: async () => { await at("withdrawn"); return { reached: true }; },
    },
    onChange: ({ state }) => { if (state === stopAt) void die(); } });
  if (stopAt === "disconnected" || stopAt === "withdrawn") {
    const made = await flows.start(connectorKey, { connectorVersion: "1.0.0", secret: new TextEncoder().encode(given) });
    while ((await flows.list())[0]?.state !== "connected") await new Promise((resolve) => setTimeout(resolve, 20));
    await flows.disconnect(connectorKey);
  }
  const secret = given === "" ? undefined : new TextEncoder().encode(given);
  const { nextAction } = await flows.start(connectorKey, { connectorVersion: "1.0.0", secret });
  if (nextAction?.type === "redirect") {
    const away = await fetch(nextAction.url, { redirect: "manual" });
    await fetch(away.headers.get("location"));
  }
`;

interface Point {
  readonly connectorKey: "oauth" | "key";
  /** Where it is killed. */
  readonly at: string;
  /** What is on disk then; nothing where there is no row. */
  readonly left: Partial<FlowRow> | undefined;
  /** What it comes to after the restart. */
  readonly ends: Partial<FlowRow> | undefined;
  /** The page is visited after the restart only. */
  readonly visits?: true;
  /** Sessions at the control plane in the end. */
  readonly sessions: number;
}

const connected = { state: "connected", connectionId: expect.any(String), reason: undefined } as const;
const lost = { state: "failed", reason: "secret_lost" } as const;
const POINTS: readonly Point[] = [
  { connectorKey: "oauth", at: "within", left: undefined, ends: undefined, sessions: 0 },
  { connectorKey: "oauth", at: "row", left: { state: "starting" }, ends: connected, visits: true, sessions: 1 },
  { connectorKey: "oauth", at: "posted", left: { state: "starting" }, ends: connected, visits: true, sessions: 1 },
  {
    connectorKey: "oauth",
    at: "waiting",
    left: { state: "waiting", nextAction: "redirect", sessionId: expect.any(String) },
    ends: connected,
    visits: true,
    sessions: 1,
  },
  {
    connectorKey: "oauth",
    at: "authorized",
    left: { state: "authorized", connectionId: expect.any(String) },
    ends: connected,
    sessions: 1,
  },
  { connectorKey: "oauth", at: "connected", left: connected, ends: connected, sessions: 1 },
  { connectorKey: "key", at: "row", left: { state: "starting", nextAction: undefined }, ends: lost, sessions: 1 },
  { connectorKey: "key", at: "posted", left: { state: "starting" }, ends: lost, sessions: 1 },
  {
    connectorKey: "key",
    at: "session",
    left: { state: "waiting", nextAction: "submit_secret" },
    ends: lost,
    sessions: 1,
  },
  { connectorKey: "key", at: "completed", left: { state: "waiting" }, ends: connected, sessions: 1 },
  { connectorKey: "key", at: "authorized", left: { state: "authorized" }, ends: connected, sessions: 1 },
];

describe("authorization flows and kills", () => {
  const cleanup = new Cleanup();
  let compiled: CompiledStore;
  let directory: string;
  let program: StoreProgram | undefined;
  let gateway: Gateway;

  beforeAll(async () => {
    compiled = await compileStore(["auth-projection/index.ts"]);
  });
  afterAll(() => compiled.remove());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "flow-crashes-"));
    const provider = await AuthorizationServer.start({ clients: [CLIENT] });
    cleanup.add(() => provider.close());
    const { clientId, clientSecret } = CLIENT;
    const url = "http://127.0.0.1:9/mcp";
    gateway = await startGateway(cleanup, [
      authorizingConnector("oauth", url, { kind: "oauth", issuer: provider.issuer, clientId, clientSecret }),
      authorizingConnector("key", url, { kind: "secret" }),
    ]);
  });
  afterEach(async () => {
    program?.process.kill("SIGKILL");
    await cleanup.run();
    await rm(directory, { recursive: true, force: true });
  });

  async function kill(connectorKey: string, at: string): Promise<void> {
    const given = connectorKey === "key" ? SECRET : "";
    program = await compiled.start(PROGRAM, directory, gateway.origin, connectorKey, at, given);
    await program.ended;
    expect(program.process.signalCode).toBe("SIGKILL");
  }

  const flowsIn = (store: Store): Promise<readonly FlowRow[]> => store.read((tx) => tx.flows.list("ada"));

  /** The next login of the account, in this process. */
  function resume(store: Store) {
    const logins = new LoginGuard({ authorize: () => ({ Cookie: "session=s-ada" }) });
    const login = logins.signIn("ada");
    const controlBase = gateway.origin;
    const client = new FlowClient({ controlBase, login, logins });
    const begun: string[] = [];
    const source = new SnapshotClient({ controlBase, login, logins });
    const sync: SnapshotSync<StoreTx> = new SnapshotSync({
      login,
      logins,
      scopeEpoch: "e2",
      readiness: new Readiness(),
      source,
      store,
      onChanged: () => undefined,
      onEvent: (event) => {
        if (event.kind === "applied" || event.kind === "confirmed") flows.synchronized(event);
      },
    });
    const flows: AuthorizationFlows<StoreTx> = new AuthorizationFlows({
      login,
      logins,
      store,
      sync,
      sessions: {
        begin: (request, signal) => {
          begun.push(request.clientRequestId);
          return client.begin(request, signal);
        },
        complete: () => Promise.reject(new Error("a secret is sent again")),
        observe: (session, signal) => client.observe(session, signal),
        end: (sessionId, signal) => client.end(sessionId, signal),
        disconnect: (key, signal) => client.disconnect(key, signal),
      },
      convergence: {
        published: async () => ({ reached: true, reason: undefined }),
        withdrawn: async () => ({ reached: true, reason: undefined }),
      },
    });
    cleanup.add(async () => {
      await flows.close();
      await sync.close();
      await client.close();
      await store.close();
    });
    return { flows, begun };
  }

  /** Where a session sends its account, for a person who has the page open. */
  async function visit(sessionId: string): Promise<void> {
    const path = `connector-authorization-sessions/${sessionId}`;
    const { nextAction } = await sessionOf(control(gateway, "GET", path));
    const away = await fetch(nextAction?.url ?? "", { redirect: "manual" });
    expect((await fetch(away.headers.get("location") ?? "")).status).toBe(200);
  }

  it.each(POINTS)(
    "R-10, P-10 ★: killed at $at, of $connectorKey",
    async ({ connectorKey, at, left, ends, visits, sessions }) => {
      await kill(connectorKey, at);
      const store = await openSqliteStore({ directory });
      const before = await flowsIn(store);
      expect(before).toHaveLength(left === undefined ? 0 : 1);
      if (left !== undefined) expect(before[0]).toMatchObject(left);
      // What the file holds has neither the secret nor the page.
      for (const name of await readdir(directory)) {
        const text = await readFile(join(directory, name), "latin1");
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain(gateway.origin);
      }

      const { flows, begun } = resume(store);
      const finished: readonly FlowState[] = ["connected", "failed", "cancelled"];
      if (visits === true) {
        await expect.poll(async () => (await flows.list())[0]?.sessionId, { timeout: 5_000 }).toBeDefined();
        await visit((await flows.list())[0]?.sessionId ?? "");
      }
      if (ends !== undefined) {
        await expect
          .poll(async () => finished.includes((await flows.list())[0]?.state ?? "starting"), { timeout: 10_000 })
          .toBe(true);
      }
      const after = await flows.list();
      expect(after).toHaveLength(ends === undefined ? 0 : 1);
      if (ends !== undefined) expect(after[0]).toMatchObject({ ...ends, clientRequestId: before[0]?.clientRequestId });
      // It is asked for again only while its session is not known, and is the same one then.
      expect(begun).toEqual(before[0]?.state === "starting" ? [before[0].clientRequestId] : []);
      const state = await (await admin(gateway, "GET", "/admin/state")).json();
      expect(state).toMatchObject({ sessions: { length: sessions } });
    },
    30_000,
  );

  it.each([
    ["disconnected", { state: "connected" }],
    ["withdrawn", { state: "disconnected" }],
  ])(
    "R-10, P-12: killed when the control plane has answered to a disconnect, at %s: the next snapshot says so",
    async (at, row) => {
      await kill("key", at);
      const store = await openSqliteStore({ directory });
      const lowered = await store.read((tx) => tx.overlays.get("ada", "key"));
      expect(lowered?.state).toBe(row.state === "connected" ? undefined : "disconnected");
      resume(store);
      await expect
        .poll(() => store.read(async (tx) => (await tx.projections.get("ada", "key"))?.state), { timeout: 5_000 })
        .toBe("disconnected");
    },
    30_000,
  );
});
