/**
 * A program that does to a whole host what people and agents do to it, again and again: connectors are installed, registered, used
 * and removed, agents come and go. It says after a while, and at the end, what there is. What the host keeps to itself is counted
 * by its own parts, which are caught at what the host asks of them.
 */
export const HOST_GROWTH = `
  import { Agent, createServer, request } from "node:http";
  import { setFlagsFromString } from "node:v8";
  import { runInNewContext } from "node:vm";
  setFlagsFromString("--expose-gc");
  // Compiled code is no growth, and would be most of it.
  for (const flag of ["--no-opt", "--no-sparkplug"]) setFlagsFromString(flag);
  const gc = runInNewContext("gc");
  const from = (path) => import(new URL(path, import.meta.url));
  const { ConnectorHost } = await from("./connector-host/index.js");
  const { createMemoryStore } = await from("./store/index.js");
  const { Controller } = await from("./reconcile/index.js");
  const { RouteTable } = await from("./connector-host/routes/index.js");
  const { ActivationMemory } = await from("./connector-host/activation/index.js");
  const { ConnectorCatalog } = await from("./connector-host/catalog/index.js");
  const { Catalogs } = await from("./connector-host/aggregation/catalogs.js");
  const { Bindings } = await from("./connector-host/local-server/bindings.js");
  const { Listeners } = await from("./connector-host/local-server/listeners.js");
  const { Exchanges } = await from("./connector-host/local-server/exchanges.js");
  const { Sessions } = await from("./connector-host/local-server/sessions/sessions.js");

  const [warmUp, rounds] = [Number(args[0]), Number(args[1])];
  /** How many of everything in a round, and in which rounds one of them is used. */
  const EACH = 25;
  const USED_EVERY = 10;
  /** Legacy sessions in a round. */
  const SESSIONS = 10;
  const each = (run) => Promise.all(Array.from({ length: EACH }, (_, index) => run(index)));

  /** The one instance of a class that is asked for this. */
  function caught(Class, method) {
    const found = {};
    const original = Class.prototype[method];
    Class.prototype[method] = function (...args) {
      found.it = this;
      return original.apply(this, args);
    };
    return found;
  }
  const routes = caught(RouteTable, "openScope");
  const controller = caught(Controller, "activateScope");
  const memory = caught(ActivationMemory, "switchLogin");
  const catalog = caught(ConnectorCatalog, "keysIn");
  const catalogs = caught(Catalogs, "onPublished");
  const bindings = caught(Bindings, "bind");
  const listeners = caught(Listeners, "onChange");
  const exchanges = caught(Exchanges, "open");
  const sessions = caught(Sessions, "create");

  const answers = {
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    "tools/call": { content: [] },
  };
  let authorized = [];
  let revision = 1;
  const gateway = createServer((incoming, response) => {
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", () => {
      response.setHeader("Content-Type", "application/json");
      if (incoming.method === "GET") {
        response.end(JSON.stringify({ revision, connectors: authorized.map((connectorId) => ({ connectorId,
          connectorVersion: "1.0.0", state: "connected", connectionId: "c-" + connectorId, connectionVersion: 1 })) }));
        return;
      }
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...answers[method] } }));
    });
  });
  await new Promise((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  const baseUrl = "http://127.0.0.1:" + gateway.address().port;

  /** Pauses of convergence pass fifty times as fast, and what is to be forgotten is forgotten by a leap. */
  const FASTER = 50;
  let leapt = 0;
  const wallClock = {
    now: () => Date.now() + leapt,
    schedule(delayMs, run) {
      const timer = setTimeout(run, delayMs / FASTER);
      return () => clearTimeout(timer);
    },
  };

  const store = createMemoryStore();
  const host = await ConnectorHost.start({ baseUrl, releases: [], accounts: { authorize: () => ({ Cookie: "session=ada" }) },
    hostInfo: { name: "grows", version: "1.0.0" }, hintsUrl: false, wallClock }, store);

  /** Waits until the host has published these connectors. */
  const waiting = new Map();
  host.onPublication(({ kind, connectorKey }) => kind === "published" && waiting.get(connectorKey)?.());
  async function published(keys, run) {
    const seen = keys.map((key) => new Promise((resolve) => waiting.set(key, resolve)));
    await Promise.all([run(), ...seen]);
    waiting.clear();
  }

  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const MODERN = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const ACCEPT = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  /** What an agent sends; resolves with the answer's headers and text. */
  function send(bound, method, headers, body) {
    return new Promise((resolve, reject) => {
      const outgoing = request(bound.url, { method, agent, headers: { ...bound.headers, ...headers } }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk) => (text += chunk)).on("end", () =>
          resolve({ status: answer.statusCode, headers: answer.headers, text }));
      });
      outgoing.on("error", reject).end(body === undefined ? undefined : JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }));
    });
  }
  async function list(bound) {
    const headers = { ...ACCEPT, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list" };
    const { text } = await send(bound, "POST", headers, { method: "tools/list", params: { _meta: MODERN } });
    return JSON.parse(text).result.tools.map(({ name }) => name);
  }
  const expectThat = (holds, ...about) => holds || console.log("not as it should be", ...about);

  const release = (connectorId) => ({ connectorId, version: "1.0.0", runtime: { kind: "remote_mcp",
    protocolVersion: "2026-07-28", bindingRef: "b", contractVersion: 1, bindingContractHash: "sha256:" + "0".repeat(64) },
    authorization: { kind: "oauth2", profile: "p" }, requiredCapabilities: ["tools"], minimumHostVersion: "0.1.0",
    display: { name: connectorId } });

  /** An agent lists tools while the connector is published. */
  async function useOnce(agentSessionId) {
    const bound = host.bind({ workspaceId: "w", agentSessionId });
    expectThat(Array.isArray(await list(bound)), "list", agentSessionId);
    bound.revoke();
  }

  const deeds = {
    /** Releases are installed, now and then one of them is authorized and used, all are uninstalled. */
    async releases(round) {
      const key = (index) => "r" + (round * EACH + index);
      const install = () => each((index) => host.connectors.install(release(key(index))));
      // As many as it takes to fill what remembers activations, at first.
      const used = round < warmUp ? 13 : round % USED_EVERY === 0 ? 1 : 0;
      if (used === 0) await install();
      else {
        authorized = Array.from({ length: used }, (_, index) => key(index));
        revision += 1;
        await published(authorized, install);
        await useOnce(key(0));
      }
      await each((index) => host.connectors.uninstall(key(index)));
    },
    /** Servers are registered, now and then one of them runs and is used, all are removed. */
    async registrations(round) {
      const slug = (index) => "s" + (round * EACH + index);
      const { registrations } = host.connectors;
      await each((index) => registrations.create({ slug: slug(index), displayName: "S",
        settings: { endpoint: baseUrl + "/" + slug(index), protocol: "modern" } }));
      if (round < warmUp || round % USED_EVERY === 0) {
        await published([slug(0)], () => registrations.setState(slug(0), "active"));
        await useOnce(slug(0));
      }
      await each((index) => registrations.remove(slug(index)));
    },
    /** Agents come and go, over sessions of an older revision and with bindings that are kept, too. */
    async agents(round) {
      const id = (index) => "a" + (round * EACH + index);
      const bound = [];
      await each(async (index) => {
        host.bind({ workspaceId: "w", agentSessionId: id(index) });
        // The session gets another one, which ends this.
        bound.push(host.bind({ workspaceId: "w", agentSessionId: id(index) }));
        await host.bindDurable({ name: id(index) });
        await host.revokeDurable(id(index));
      });
      await Promise.all(bound.slice(0, SESSIONS).map(async (one, index) => {
        const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
        const { headers } = await send(one, "POST", ACCEPT, { method: "initialize", params });
        const session = { "Mcp-Session-Id": headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25" };
        // Of most of them nobody says that they are over.
        if (index === 0) expectThat((await send(one, "DELETE", session)).status < 300, "delete", round);
      }));
      for (const one of bound) one.revoke();
    },
  };

  async function round(number) {
    for (const deed of Object.values(deeds)) await deed(number);
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
  /** What there is when all that is kept for a time is gone. */
  async function count(last) {
    leapt += 2 * 3_600_000;
    await round(last);
    for (let i = 0; i < 3; i += 1) {
      await turn();
      gc();
    }
    const rows = await store.read(async (tx) => {
      const counted = { accounts: (await tx.projections.listAccounts()).length, convergence: 0 };
      for (const scope of await tx.convergence.listScopes()) counted.convergence += (await tx.convergence.listKeys(scope)).length;
      for (const kind of ["release", "switch", "binding"]) counted[kind] = (await tx.documents.list(kind)).length;
      counted.projections = (await tx.projections.list("ada")).length;
      counted.events = (await tx.events.list(0, 1_000_000)).length;
      return counted;
    });
    const resources = process.getActiveResourcesInfo();
    const { queue, keys } = controller.it.metrics();
    return {
      heapBytes: process.memoryUsage().heapUsed,
      rows, queue, keys, routes: routes.it.counts,
      held: { activations: memory.it.size, catalogs: catalogs.it?.size ?? 0, connectors: catalog.it.keys.length,
        bindings: bindings.it.size, sessions: sessions.it?.size ?? 0, listeners: listeners.it.size,
        exchanges: exchanges.it.size },
      process: { timers: resources.filter((each) => each === "Timeout").length,
        sockets: resources.filter((each) => each === "TCPSocketWrap").length },
    };
  }

  process.on("warning", ({ name }) => expectThat(false, name));
  host.signIn("ada");
  for (let i = 0; i < warmUp; i += 1) await round(i);
  console.log(JSON.stringify(await count(warmUp)));
  for (let i = warmUp + 1; i <= warmUp + rounds; i += 1) await round(i);
  console.log(JSON.stringify(await count(warmUp + rounds + 1)));
  await host.close();
  gateway.close();
  process.exit(0);
`;
