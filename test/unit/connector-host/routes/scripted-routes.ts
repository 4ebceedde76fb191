import {
  Route,
  type RouteClient,
  type RouteDiagnostic,
  RouteTable,
  type RouteTableOptions,
} from "../../../../src/connector-host/routes/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

/** What one attempt to close does. */
export type CloseOutcome = "closes" | "rejects" | "throws" | "hangs";

/** A client whose attempts to close follow a script; the last outcome goes on. */
export class ScriptedClient implements RouteClient {
  closeCalls = 0;
  isClosed = false;
  onClose: () => void = () => {};
  readonly #script: readonly CloseOutcome[];
  readonly #hanging: { readonly succeed: () => void; readonly fail: () => void }[] = [];

  constructor(...script: readonly CloseOutcome[]) {
    this.#script = script;
  }

  close(): Promise<void> {
    const outcome = this.#script[Math.min(this.closeCalls, this.#script.length - 1)] ?? "closes";
    this.closeCalls += 1;
    this.onClose();
    if (outcome === "throws") throw new Error("scripted: close threw");
    if (outcome === "rejects") return Promise.reject(new Error("scripted: close failed"));
    if (outcome === "hangs") {
      return new Promise((resolve, reject) => {
        const succeed = (): void => {
          this.isClosed = true;
          resolve();
        };
        this.#hanging.push({ succeed, fail: () => reject(new Error("scripted: close failed late")) });
      });
    }
    this.isClosed = true;
    return Promise.resolve();
  }

  /** Lets the attempts that hang succeed after all. */
  release(): void {
    for (const attempt of this.#hanging.splice(0)) attempt.succeed();
  }

  /** Lets the oldest attempt that hangs fail. */
  failLate(): void {
    this.#hanging.shift()?.fail();
  }
}

export type TestRoute = Route<ScriptedClient>;

export interface RouteFacts {
  readonly key?: string;
  readonly scope?: string;
  readonly epoch?: string;
  readonly digest?: string;
  readonly client?: ScriptedClient;
}

/** A route of the connector `git` in the scope `acc`, epoch `e1`, unless `facts` say otherwise. */
export function routeOf(generation: number, facts: RouteFacts = {}): TestRoute {
  return new Route({
    connectorKey: facts.key ?? "git",
    scope: facts.scope ?? "acc",
    scopeEpoch: facts.epoch ?? "e1",
    generation,
    releaseDigest: facts.digest ?? "d1",
    connectionVersion: 1n,
    client: facts.client ?? new ScriptedClient(),
    tools: new Map(),
  });
}

export interface Bench {
  readonly clock: FakeClock;
  readonly table: RouteTable<ScriptedClient>;
  readonly diagnostics: RouteDiagnostic[];
}

/** A table on a fake clock whose scope `acc` is open under `e1`. */
export function openBench(options: RouteTableOptions = {}): Bench {
  const clock = new FakeClock();
  const diagnostics: RouteDiagnostic[] = [];
  const table = new RouteTable<ScriptedClient>({ clock, onDiagnostic: (each) => diagnostics.push(each), ...options });
  table.openScope("acc", "e1");
  return { clock, table, diagnostics };
}
