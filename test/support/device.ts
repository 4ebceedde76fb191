import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, vi } from "vitest";
import {
  type DeviceConnector,
  type DeviceIncident,
  DeviceReconciler,
  programConnector,
  registeredConnector,
  RegistrationFactory,
} from "../../src/connector-host/device/index.js";
import type { RegistrationFactoryOptions } from "../../src/connector-host/device/registration-factory-options.js";
import type { RemoteMcpClient } from "../../src/connector-host/factories/index.js";
import { PublicationGates } from "../../src/connector-host/host/publication-gates.js";
import {
  declareRegistration,
  declareStdioConnector,
  type RegistrationPolicy,
} from "../../src/connector-host/registration/index.js";
import { type Route, RouteTable } from "../../src/connector-host/routes/index.js";
import { openConnectorHost } from "../../src/connector-host/index.js";
import { isJsonObject } from "../../src/protocol/index.js";
import { Controller, type KeyStatus, type ReconcileEvent } from "../../src/reconcile/index.js";
import { createMemoryStore, type StoreTx } from "../../src/store/index.js";
import { RawAgent } from "./agent.js";
import { FakeClock } from "./fake-clock.js";

const SCOPE = "device";
const ID = "0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d11";

/** A registered server at this address. */
export function server(
  endpoint: string,
  more: object = {},
  settings: object = {},
  policy: RegistrationPolicy = {},
): DeviceConnector {
  const declaration = { slug: "docs", displayName: "Docs", settings: { endpoint, ...settings }, ...more };
  return registeredConnector(declareRegistration(declaration, ID, policy));
}

/** A managed program with these arguments for node. */
export function program(args: readonly unknown[], more: object = {}): DeviceConnector {
  return programConnector(declareStdioConnector(declared(args, more)));
}

/** The declaration of one of `test/programs`, with its script. */
export function scriptedDeclaration(name: string, script: object, more: object = {}): object {
  const path = fileURLToPath(new URL(`../../build/test/programs/${name}.js`, import.meta.url));
  return declared([path, JSON.stringify(script)], more);
}

/** One of `test/programs`, with its script. */
export function scripted(name: string, script: object, more: object = {}): DeviceConnector {
  return programConnector(declareStdioConnector(scriptedDeclaration(name, script, more)));
}

function declared(args: readonly unknown[], more: object): object {
  return { key: "files", displayName: "Files", command: process.execPath, args, ...more };
}

/** A server from npm. */
export function published(name: string, more: object = {}): DeviceConnector {
  const manifestPath = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`);
  const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
  const bin = isJsonObject(manifest) && isJsonObject(manifest["bin"]) ? Object.values(manifest["bin"])[0] : undefined;
  return program([join(dirname(manifestPath), String(bin))], more);
}

/** A file that gets a line with the process id at each start of a program, and those lines. */
export function startsFile() {
  const folder = mkdtempSync(join(tmpdir(), "device-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const starts = join(folder, "starts");
  const pids = (): readonly number[] => {
    try {
      return readFileSync(starts, "utf8").trim().split("\n").map(Number);
    } catch {
      return [];
    }
  };
  return { starts, pids };
}

export interface DeviceOptions extends Partial<Omit<RegistrationFactoryOptions, "clock">> {
  /** Deadlines of connections and of calls pass with the device's clock, too. Default false: they are real. */
  readonly stepped?: boolean;
}

/** Definitions that can change, and everything that makes routes of them. Closed when the test is over. */
export class Device {
  /** Of convergence and of those who hold servers: their pauses pass when it is stepped. */
  readonly clock = new FakeClock();
  /** It waits for no client: that nothing overlaps is not its doing. */
  readonly routes = new RouteTable<RemoteMcpClient>({ closeTimeoutMs: 50 });
  readonly incidents: DeviceIncident[] = [];
  readonly relisted: string[] = [];
  readonly events: ReconcileEvent[] = [];
  readonly reconciler: DeviceReconciler;
  readonly controller: Controller<StoreTx, DeviceConnector>;
  readonly #store = createMemoryStore();
  readonly #defined = new Map<string, DeviceConnector>();
  readonly #gates: PublicationGates;
  #epochs = 0;

  constructor({ stepped = false, ...options }: DeviceOptions = {}) {
    const factory = { clientInfo: { name: "test", version: "1" }, ...options };
    this.reconciler = new DeviceReconciler({
      find: (key) => this.#defined.get(key),
      routes: this.routes,
      factory: new RegistrationFactory(stepped ? { ...factory, clock: this.clock } : factory),
      controller: {
        report: (token, outcome) => this.controller.report(token, outcome),
        exited: (token, error) => this.controller.exited(token, error),
      },
      onIncident: (incident) => this.incidents.push(incident),
      onRelisted: (key) => this.relisted.push(key),
      now: () => this.clock.now(),
      clock: this.clock,
    });
    this.controller = new Controller<StoreTx, DeviceConnector>({
      store: this.#store,
      clock: this.clock,
      random: () => 0.5,
      mintEpoch: () => `epoch-${String((this.#epochs += 1))}`,
      planner: {
        keys: async () => [...this.#defined.keys()],
        facts: async (_tx, _scope, key) => this.#defined.get(key),
        plan: ({ digest }) => ({ enabled: true, identity: digest, transition: "supersede" }),
      },
      routes: {
        fence: (scope, key, generation) => this.routes.fence(scope, key, generation),
        holds: (scope, key, generation) => this.routes.holds(scope, key, generation),
      },
      reconciler: this.reconciler,
    });
    this.controller.events.subscribe((event) => this.events.push(event));
    this.#gates = new PublicationGates({ routes: this.routes, controller: this.controller });
    this.routes.openScope(SCOPE, this.controller.activateScope(SCOPE));
    this.#gates.begin(SCOPE);
    onTestFinished(() => this.close());
  }

  async close(): Promise<void> {
    this.controller.shutScope(SCOPE);
    this.routes.fenceAll(SCOPE);
    await this.reconciler.close();
    await this.routes.close(5_000);
    await this.controller.close();
    await this.#store.close();
  }

  /** Defines a connector, or defines it anew. */
  define(connector: DeviceConnector): void {
    this.#defined.set(connector.key, connector);
    this.controller.wake(SCOPE, [connector.key]);
  }

  /** Defines it, and waits until it is published. */
  async publish(
    connector: DeviceConnector,
    readiness: "ready" | "degraded" = "ready",
  ): Promise<Route<RemoteMcpClient>> {
    this.define(connector);
    return this.until(connector.key, readiness);
  }

  closeGate(): void {
    void this.#gates.close("device");
  }

  openGate(): void {
    this.#gates.open("device");
  }

  forget(key: string): void {
    this.#defined.delete(key);
    this.controller.wake(SCOPE, [key]);
  }

  /** Something needs the connector now. */
  probe(key: string): void {
    this.controller.probe(SCOPE, [key]);
  }

  async status(key: string): Promise<KeyStatus | undefined> {
    return (await this.controller.status(SCOPE)).find((each) => each.key === key);
  }

  /** Waits for a route of what is defined now, that does as it says. */
  async until(key: string, readiness: "ready" | "degraded" = "ready"): Promise<Route<RemoteMcpClient>> {
    return soon(async () => {
      const route = this.routes.current(key);
      const status = await this.status(key);
      if (route?.releaseDigest !== this.#defined.get(key)?.digest || status?.readiness !== readiness) {
        throw new Error(`${key} is ${JSON.stringify(status)}`);
      }
      if (route === undefined) throw new Error("no route");
      return route;
    });
  }

  /** Waits until the last try of a connector failed. Resolves with the code of its error. */
  async untilFailed(key: string): Promise<string> {
    return soon(async () => {
      const status = await this.status(key);
      if (status?.lastError === undefined) throw new Error(`${key} is ${JSON.stringify(status)}`);
      return status.lastError.code;
    });
  }

  /** How often something happened to a connector. */
  count(kind: ReconcileEvent["kind"]): number {
    return this.events.filter((event) => event.kind === kind).length;
  }
}

/** A host that runs `restless-stdio-server` as its only connector, and an agent of it. */
export async function hosting(script: object) {
  const { starts, pids } = startsFile();
  const host = await openConnectorHost({
    hostInfo: { name: "cases", version: "1.0.0" },
    stdio: [scriptedDeclaration("restless-stdio-server", { ...script, starts })],
  });
  onTestFinished(() => host.close());
  const state = async (): Promise<string | undefined> => (await host.status())[0]?.state;
  await soon(async () => expect(await state()).toBe("ready"));
  return { host, agent: new RawAgent(host.bind({ workspaceId: "w", agentSessionId: "s" })), pids, state };
}

/** Tries until it does not throw. */
export function soon<T>(look: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(look, { timeout: 10_000, interval: 5 });
}
