import { describe, expect, it } from "vitest";
import { RouteCaller } from "../../../../src/connector-host/aggregation/route-caller.js";
import type { RemoteMcpClient } from "../../../../src/connector-host/factories/index.js";
import type { ForwardedRequest } from "../../../../src/connector-host/local-server/index.js";
import { type AdmissionPins, Route, RouteTable } from "../../../../src/connector-host/routes/index.js";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { ModernStreamableHTTPClient } from "../../../../src/modern-client/index.js";
import { Journaling, SUBJECT } from "./parties.js";

/** Requests over routes of a real table, with a journal. What is sent is noted in place of a server. */
class Routing {
  readonly journaling = new Journaling();
  readonly routes = new RouteTable<RemoteMcpClient>({ clock: this.journaling.clock, drainTimeoutMs: 60_000 });
  /** Generations of the routes that requests were sent over, and how many rows there were then. */
  readonly sent: [generation: number, rows: number][] = [];
  readonly #caller = new RouteCaller({
    clock: this.journaling.clock,
    routes: this.routes,
    journal: this.journaling.journal,
    reach: {
      scopesOf: () => [],
      missing: async () => [],
      missingOne: async () => undefined,
      wake: () => undefined,
      onFailure: () => undefined,
    },
  });
  #generation = 0;

  constructor() {
    this.routes.openScope("device", "e");
  }

  async publish(): Promise<Route<RemoteMcpClient>> {
    this.#generation += 1;
    const client = new ModernStreamableHTTPClient({
      endpoint: "http://127.0.0.1:9/mcp",
      clientInfo: { name: "test", version: "1" },
    });
    const route = new Route<RemoteMcpClient>({
      connectorKey: "docs",
      scope: "device",
      scopeEpoch: "e",
      generation: this.#generation,
      releaseDigest: "d",
      connectionVersion: 1n,
      client: Object.assign(client, { era: "modern" as const }),
      tools: new Map(),
    });
    await this.routes.commit(route);
    return route;
  }

  /** Makes a request; `between` happens when its first row is there, and nothing was sent. */
  async call(route: Route<RemoteMcpClient>, between: () => unknown, pins?: AdmissionPins): Promise<unknown> {
    const request: ForwardedRequest = {
      meta: {},
      logLevel: undefined,
      signal: new AbortController().signal,
      deadline: this.journaling.clock.now() + 30_000,
      onProgress: undefined,
    };
    let isFirst = true;
    const called = this.#caller.call({
      route,
      request,
      subject: SUBJECT,
      pins,
      make: async (_client, { admit }) => {
        if (isFirst) await between();
        isFirst = false;
        const reason = admit?.();
        if (reason !== undefined) {
          throw new RemoteConnectorError("not_admitted", {
            message: reason,
            delivery: "not_sent",
            details: { reason },
          });
        }
        this.sent.push([
          route.state === "open" ? route.generation : this.#generation,
          this.journaling.rows.inner.counts().rows,
        ]);
        return { result: {}, raw: Buffer.from("{}"), diagnostics: [], delivery: "answered" };
      },
    });
    const outcome = called.catch((error: unknown) => error);
    for (let turns = 0; turns < 5; turns += 1) await this.journaling.turn();
    return outcome;
  }

  async rows() {
    const rows = await this.journaling.journal.reader.list();
    return rows
      .toReversed()
      .map(({ generation, attempt, verdict, errorCode }) => [generation, attempt, verdict, errorCode]);
  }
}

describe("requests over routes", () => {
  it("H-35, H-14, F-1: one that is refused in the last step has a row that says that it was not sent", async () => {
    const routing = new Routing();
    const route = await routing.publish();
    let version = 1;
    const permission = { value: version, current: () => version };
    const outcome = await routing.call(route, () => (version = 2), { permission });
    expect(outcome).toMatchObject({ code: "not_admitted", delivery: "not_sent" });
    expect(routing.sent).toEqual([]);
    expect(await routing.rows()).toEqual([[1, 1, "not_sent", "not_admitted"]]);
  });

  it("H-35, F-1: one whose route was replaced before it was sent has a row for each route, and each says what happened", async () => {
    const routing = new Routing();
    const route = await routing.publish();
    await routing.call(route, () => routing.publish());
    // Its second row was there before it was sent.
    expect(routing.sent).toEqual([[2, 2]]);
    expect(await routing.rows()).toEqual([
      [1, 1, "not_sent", "not_admitted"],
      [2, 1, "answered", undefined],
    ]);
  });

  it("H-35, H-14: one whose route was withdrawn before it was sent has a row that says so", async () => {
    const routing = new Routing();
    const route = await routing.publish();
    const outcome = await routing.call(route, () => routing.routes.fenceAll("device"));
    expect(outcome).toMatchObject({ delivery: "not_sent" });
    expect((await routing.rows()).map(([, , verdict]) => verdict)).toEqual(["not_sent"]);
  });
});
