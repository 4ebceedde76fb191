/**
 * A program that signs accounts in, installs and removes connectors, fails and rolls back, again and again, at the level of the
 * parts that a host is made of, and says after a while, and at the end, what there is. Time does not pass but by its own hand.
 */
export const GROWTH = `
  import { join } from "node:path";
  import { statSync } from "node:fs";
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const from = (path) => import(new URL(path, import.meta.url));
  const { createMemoryStore } = await from("./store/index.js");
  const { Controller } = await from("./reconcile/index.js");
  const { LoginGuard, Readiness, SnapshotSync, parseSnapshot } = await from("./auth-projection/index.js");
  const { Route, RouteTable } = await from("./connector-host/routes/index.js");
  const { ActivationMemory } = await from("./connector-host/activation/index.js");
  const { Housekeeping } = await from("./connector-host/host/housekeeping.js");

  const [kind, directory, what, warmUp, rounds] = [args[0], args[1], args[2], Number(args[3]), Number(args[4])];
  /** Logins a day. */
  const perDay = Number(args[5]);
  const HOUR_MS = 3_600_000;

  let now = 1_700_000_000_000;
  const timers = new Set();
  const clock = {
    now: () => now,
    schedule(delayMs, run) {
      const timer = { at: now + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  async function advance(ms) {
    const end = now + ms;
    await turn();
    for (;;) {
      let next;
      for (const timer of timers) if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
      if (next === undefined) break;
      timers.delete(next);
      now = Math.max(now, next.at);
      next.run();
      await turn();
    }
    now = end;
  }
  /** Nothing runs meanwhile; what was due by its end runs then, each once. */
  async function sleep(ms) {
    now += ms;
    await advance(0);
  }

  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  let epochs = 0;
  const store = kind === "sqlite" ? await openSqliteStore({ directory }) : createMemoryStore();
  const logins = new LoginGuard({ authorize: () => ({}) });
  const readiness = new Readiness();
  const routes = new RouteTable({ clock });
  const memory = new ActivationMemory(() => routes.counts.published);
  let installed = new Set();
  const controller = new Controller({
    store, clock, random,
    mintEpoch: () => "epoch " + (epochs += 1),
    planner: {
      keys: async () => [...installed],
      async facts(tx, scope, key) {
        if (!installed.has(key)) return undefined;
        const row = await tx.projections.get(scope.slice("account:".length), key);
        return { connected: row?.state === "connected", version: String(row?.connectionVersion ?? 0n) };
      },
      plan: (facts, desired) =>
        facts.connected
          ? { enabled: true, identity: facts.version, transition: desired?.enabled === true ? "supersede" : "revoke" }
          : { enabled: false, identity: "", transition: "revoke" },
    },
    routes: {
      fence: (scope, key, generation) => routes.fence(scope, key, generation, "revoke"),
      holds: (scope, key, generation) => routes.holds(scope, key, generation),
    },
    reconciler: {
      async reconcile({ scope, key, generation, epoch, enabled, waiting }) {
        if (!enabled) {
          await routes.remove(scope, key, generation);
          return { kind: "done", readiness: "ready" };
        }
        await waiting(Promise.resolve());
        if (key.startsWith("fails")) throw new Error("It fails.");
        if (key.startsWith("starts")) return { kind: "starting" };
        const client = { close: async () => { if (key.startsWith("clings")) throw new Error("It can't be closed."); } };
        const route = new Route({ connectorKey: key, scope, scopeEpoch: epoch, generation, releaseDigest: "",
          connectionVersion: 0n, client, tools: new Map() });
        await routes.commit(route);
        const identity = { accountId: scope, connectorKey: key, releaseDigest: "", connectionId: "", connectionVersion: 0n,
          serverRevision: 0n };
        memory.remember(identity, logins.current?.generation ?? -1, { tools: new Map([["t", {}]]), diagnostics: [] });
        return { kind: "done", readiness: "ready" };
      },
      classifyFault: () => ({ counts: true }),
    },
  });
  controller.events.subscribe((event) => {
    if (event.kind === "removed") routes.forgetFence(event.scope, event.key);
  });
  const isActive = (scope) => controller.epochOf(scope) !== undefined;
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const housekeeping = new Housekeeping({ store, clock, isActive, logger: silent,
    forgetScope: (tx, scope) => controller.forgetInTx(tx, scope) });
  housekeeping.start();

  const snapshotOf = (revision, keys) => parseSnapshot(Buffer.from(JSON.stringify({ revision,
    connectors: keys.map((connectorId) => ({ connectorId, connectorVersion: "1.0.0", state: "connected",
      connectionId: "c-" + connectorId, connectionVersion: revision })) })));

  /** One account comes, uses what was installed for it, and goes. Every third one is an account that came before. */
  async function login(i) {
    const accountId = i % 3 === 0 ? "regular " + (i % 30) : "account " + i;
    const scope = "account:" + accountId;
    const keys = ["base", "works" + i, ["fails", "starts", "clings"][i % 3] + i];
    installed = new Set(keys);
    const login = logins.signIn(accountId);
    memory.switchLogin(login.generation);
    const scopeEpoch = controller.activateScope(scope);
    routes.openScope(scope, scopeEpoch);
    let revision = 10 * i + 1;
    const plan = (tx, changed) => controller.planInTx(tx, scope, changed);
    const sync = new SnapshotSync({ login, logins, scopeEpoch, readiness, store, clock, random, onChanged: plan,
      source: { fetch: async () => snapshotOf(revision, keys) } });
    await advance(2_000);
    if (!sync.state().ready) console.log("not ready", sync.state().error);
    // A new version of every connection, and what a call or an exit would ask for.
    revision += 1;
    sync.wake({ onceFor: "base" });
    controller.probe(scope, ["base", "fails" + i, "unknown" + i]);
    controller.report({ scope, key: "starts" + i, generation: 1, epoch: scopeEpoch }, { kind: "requeue", afterMs: 5 });
    const base = routes.current("base");
    if (base !== undefined) {
      routes.retireExact(base);
      controller.exited({ scope, key: "base", generation: base.generation, epoch: scopeEpoch }, new Error("exited"));
    }
    await advance(2_000);
    // What was installed for it is removed again, all but the base.
    installed = new Set(["base"]);
    await store.write((tx) => plan(tx, keys));
    await advance(2_000);
    // A revocation whose transaction fails: before and after the scope is shut.
    const failing = async () => store.write(async (tx) => {
      await tx.projections.remove(accountId, "base");
      await plan(tx, ["base"]);
      throw new Error("rolled back");
    }).catch(() => undefined);
    if (i % 5 === 0) await failing();
    controller.shutScope(scope);
    logins.signOut();
    routes.fenceAll(scope);
    memory.switchLogin(undefined);
    await sync.close();
    if (i % 5 === 1) await failing();
    if (i % 5 === 2) await store.write((tx) => tx.projections.remove(accountId, "base").then(() => plan(tx, ["base"])));
    await sleep((24 / perDay) * HOUR_MS);
  }

  /** An account that stays: what is installed for it changes, again and again. */
  async function stay() {
    installed = new Set(["base"]);
    let revision = 1;
    const login = logins.signIn("stays");
    memory.switchLogin(login.generation);
    const scope = "account:stays";
    const scopeEpoch = controller.activateScope(scope);
    routes.openScope(scope, scopeEpoch);
    const plan = (tx, changed) => controller.planInTx(tx, scope, changed);
    const sync = new SnapshotSync({ login, logins, scopeEpoch, readiness, store, clock, random, onChanged: plan,
      source: { fetch: async () => snapshotOf(revision, [...installed]) } });
    await advance(2_000);
    return async (i) => {
      const keys = ["works" + i, "fails" + i, "starts" + i, "clings" + i];
      installed = new Set(["base", ...keys]);
      revision += 1;
      sync.wake({ onceFor: "works" + i });
      await advance(1_500);
      controller.probe(scope, ["unknown" + i]);
      controller.report({ scope, key: "unknown" + i, generation: 1, epoch: scopeEpoch }, { kind: "starting" });
      const route = routes.current("works" + i);
      if (route === undefined) console.log("not published", i);
      else if (i % 2 === 0) {
        routes.retireExact(route);
        controller.exited({ scope, key: route.connectorKey, generation: route.generation, epoch: scopeEpoch }, new Error("exited"));
      }
      installed = new Set(["base"]);
      revision += 1;
      await store.write((tx) => plan(tx, keys));
      sync.wake();
      await advance(1_500);
    };
  }

  async function count() {
    // What is tried again is, until it is given up.
    await advance(HOUR_MS);
    gc();
    await turn();
    gc();
    const rows = await store.read(async (tx) => {
      const accounts = (await tx.projections.listAccounts()).map((row) => row.accountId);
      const counted = { accounts: accounts.length, projections: 0, overlays: 0, flows: 0, convergence: 0, events: 0 };
      for (const accountId of accounts) {
        counted.projections += (await tx.projections.list(accountId)).length;
        counted.overlays += (await tx.overlays.list(accountId)).length;
        counted.flows += (await tx.flows.list(accountId)).length;
      }
      for (const scope of await tx.convergence.listScopes()) counted.convergence += (await tx.convergence.listKeys(scope)).length;
      counted.events = (await tx.events.list(0, 1_000_000)).length;
      return counted;
    });
    const { activeScopes, queue, keys } = controller.metrics();
    return {
      heapBytes: process.memoryUsage().heapUsed,
      fileBytes: kind === "sqlite" ? statSync(join(directory, "host.db")).size : 0,
      rows, activeScopes, queue, keys, routes: routes.counts, lists: memory.size, timers: timers.size,
    };
  }

  const round = what === "logins" ? login : await stay();
  for (let i = 0; i < warmUp; i += 1) await round(i);
  console.log(JSON.stringify(await count()));
  for (let i = warmUp; i < warmUp + rounds; i += 1) await round(i);
  console.log(JSON.stringify(await count()));
  await housekeeping.close();
  await controller.close();
  await routes.close(1);
  await store.close();
  process.exit(0);
`;
