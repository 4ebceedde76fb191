import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { McpClient } from "../../../../../src/connect/index.js";
import {
  ConnectionLeases,
  type LeasedServer,
  offeredCapabilities,
} from "../../../../../src/connector-host/device/leases/index.js";
import type { CallLease, RemoteMcpClient } from "../../../../../src/connector-host/factories/index.js";
import { RemoteConnectorError } from "../../../../../src/errors.js";
import type { InputRelay } from "../../../../../src/protocol/input/index.js";
import { FakeClock, settle } from "../../../../support/fake-clock.js";

/** Another run of the same kind: `LEASES_SEED=7 npx vitest run …`. A failure prints the seed and its path. */
const SEED = Number(process.env["LEASES_SEED"] ?? 20_261_201);
const MAX = 2;
const HOLDERS = [{ name: "ada" }, { name: "bob" }] as const;
const CALLERS = [{ elicitation: {} }, { roots: {} }] as const;
const DECLARED = ['{"elicitation":{"form":{}}}', '{"roots":{}}'];
const FORM = { method: "elicitation/create", params: { message: "?", requestedSchema: {} } };
const ROOTS = { method: "roots/list", params: undefined };

const GONE = new RemoteConnectorError("connection_broken", {
  message: "gone",
  delivery: "unknown",
  details: { origin: "a", reason: "gone" },
});

/** A connection of the server, and what becomes of it. */
class Connection {
  readonly relay: InputRelay;
  readonly client: McpClient;
  isClosed = false;
  isBroken = false;
  break: () => void = () => undefined;
  readonly exited = new Promise<void>((resolve) => {
    this.break = () => {
      this.isBroken = true;
      resolve();
    };
  });

  constructor(relay: InputRelay) {
    this.relay = relay;
    const parts: Record<string, unknown> = {
      era: "legacy",
      close: async () => void (this.isClosed = true),
      callTool: () => Promise.reject(GONE),
    };
    const others = (): Promise<never> => Promise.reject(GONE);
    this.client = new Proxy<McpClient>(Object.create(null), {
      get: (_, name) => (name === "then" ? undefined : (parts[String(name)] ?? others)),
    });
  }
}

interface Held {
  readonly lease: CallLease<RemoteMcpClient>;
  readonly holder: number;
  readonly caller: number;
  readonly connection: Connection;
}

class World {
  readonly clock = new FakeClock();
  readonly connections: Connection[] = [];
  readonly held: Held[] = [];
  /** Those who wait, in order. */
  readonly waiting: { readonly over: AbortController; readonly index: number }[] = [];
  readonly order: number[] = [];
  readonly leases: ConnectionLeases;
  failsNext = false;
  #came = 0;

  constructor() {
    const plain = new Proxy<McpClient>(Object.create(null), {
      get: (_, name) => (name === "era" ? "legacy" : "2025-11-25"),
    });
    this.leases = new ConnectionLeases({
      plain,
      offered: offeredCapabilities(["elicitation", "roots"]),
      open: async (relay): Promise<LeasedServer> => {
        if (this.failsNext) {
          this.failsNext = false;
          throw GONE;
        }
        const connection = new Connection(relay);
        this.connections.push(connection);
        return connection;
      },
      maxLeasedConnections: MAX,
      maxWaitingLeases: 100,
      clock: this.clock,
    });
  }

  get open(): readonly Connection[] {
    return this.connections.filter(({ isClosed }) => !isClosed);
  }

  async acquire(holder: number, caller: number): Promise<void> {
    const over = new AbortController();
    const waiter = { over, index: (this.#came += 1) };
    this.waiting.push(waiter);
    try {
      const lease = await this.leases.acquire({
        holder: HOLDERS[holder] ?? HOLDERS[0],
        capabilities: CALLERS[caller] ?? {},
        answer: async () => ({ result: { whose: waiter.index } }),
        signal: over.signal,
      });
      const connection = await this.#connectionOf(waiter.index, caller);
      this.held.push({ lease, holder, caller, connection });
      this.order.push(waiter.index);
    } catch (error) {
      if (over.signal.aborted) expect(error).toBe("gone");
      else expect(error).toMatchObject({ delivery: "not_sent" });
    } finally {
      this.waiting.splice(this.waiting.indexOf(waiter), 1);
    }
  }

  /** The one connection whose server's questions are this call's. */
  async #connectionOf(whose: number, caller: number): Promise<Connection> {
    const ask = caller === 0 ? FORM : ROOTS;
    const found: Connection[] = [];
    for (const connection of this.open) {
      const answer = await connection.relay.answer(ask, new AbortController().signal);
      if ("result" in answer && answer.result["whose"] === whose) found.push(connection);
    }
    expect(found).toHaveLength(1);
    const [connection] = found;
    if (connection === undefined) throw new Error("It has none.");
    expect(JSON.stringify(connection.relay.capabilities)).toBe(DECLARED[caller]);
    return connection;
  }
}

describe("ConnectionLeases", () => {
  it("H-27: each call has a connection of its own, no more than there may be, of its holder; and nothing is left", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("acquire" as const), holder: fc.nat(1), caller: fc.nat(1) }),
      fc.record({ kind: fc.constantFrom("release", "release", "give up", "break", "abort", "fail", "minute") }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const world = new World();
        /** Who had each connection first. */
        const owners = new Map<Connection, number>();
        for (const one of steps) {
          const [first] = world.held;
          if (one.kind === "acquire" && "holder" in one) void world.acquire(one.holder, one.caller);
          else if (one.kind === "release" || one.kind === "give up") {
            if (one.kind === "give up") await first?.lease.client.callTool({ name: "t" }).catch(() => undefined);
            world.held.shift();
            first?.lease.release();
          } else if (one.kind === "break") world.open[0]?.break();
          else if (one.kind === "abort") world.waiting.at(-1)?.over.abort("gone");
          else if (one.kind === "fail") world.failsNext = true;
          else await world.clock.advance(60_000);
          await settle();
          expect(world.open.length).toBeLessThanOrEqual(MAX);
          expect(new Set(world.held.map(({ connection }) => connection)).size).toBe(world.held.length);
          for (const { connection, holder } of world.held) {
            expect(owners.get(connection) ?? holder).toBe(holder);
            owners.set(connection, holder);
            expect(connection.isClosed).toBe(false);
          }
          // Nobody waits while there is a turn.
          if (world.held.length < MAX) expect(world.waiting).toEqual([]);
          expect(world.order).toEqual(world.order.toSorted((a, b) => a - b));
        }
        for (const { lease } of world.held.splice(0)) lease.release();
        await settle();
        await world.leases.close();
        await settle();
        expect([world.clock.pending, world.waiting.length]).toEqual([0, 0]);
        for (const { lease } of world.held) lease.release();
        expect(world.open).toEqual([]);
      }),
      { seed: SEED, numRuns: 100 },
    );
  });
});
