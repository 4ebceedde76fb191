import { describe, expect, it } from "vitest";
import { ConnectionLeases, offeredCapabilities } from "../../../../../src/connector-host/device/leases/index.js";
import { RemoteConnectorError } from "../../../../../src/errors.js";
import type { InputRelay, ServerAskAnswer } from "../../../../../src/protocol/input/index.js";
import { FakeClock, settle } from "../../../../support/fake-clock.js";
import { playedClient } from "./played-client.js";

const FORM = { method: "elicitation/create", params: { message: "?", requestedSchema: {} } };
const DECLINED = { result: { action: "decline" } };
const { signal } = new AbortController();
const ADA = {};

class Server {
  readonly clock = new FakeClock();
  /** One for each connection. */
  readonly relays: InputRelay[] = [];
  closed = 0;
  /** What calls reject with. */
  failure: Error | undefined;
  readonly leases: ConnectionLeases;

  constructor(maxLeasedConnections = 4) {
    this.leases = new ConnectionLeases({
      plain: playedClient({ era: "legacy", revision: "2025-11-25" }),
      offered: offeredCapabilities(["elicitation"]),
      maxLeasedConnections,
      maxWaitingLeases: 10,
      clock: this.clock,
      open: async (relay) => {
        this.relays.push(relay);
        const client = playedClient({
          era: "legacy",
          callTool: () => (this.failure === undefined ? Promise.resolve({}) : Promise.reject(this.failure)),
          close: async () => void (this.closed += 1),
        });
        return { client, exited: new Promise(() => undefined) };
      },
    });
  }

  take(holder: object, answer = async (): Promise<ServerAskAnswer> => ({ result: { action: "accept" } })) {
    return this.leases.acquire({ holder, capabilities: { elicitation: {} }, answer, signal });
  }

  ask(connection = this.relays.length - 1): Promise<ServerAskAnswer> | undefined {
    return this.relays[connection]?.answer(FORM, signal);
  }
}

describe("the connections of a server over HTTP", () => {
  it("H-27: one on which something was asked after the call is not given again, not even to its holder", async () => {
    const server = new Server();
    (await server.take(ADA)).release();
    (await server.take(ADA)).release();
    expect(server.relays).toHaveLength(1);
    expect(await server.ask()).toEqual(DECLINED);
    (await server.take(ADA)).release();
    expect([server.relays.length, server.closed]).toEqual([2, 1]);
  });

  it("H-27: one whose call was answered while its caller was being asked is not given again", async () => {
    const server = new Server();
    const lease = await server.take(ADA, () => new Promise(() => undefined));
    const asking = server.ask();
    await lease.client.callTool({ name: "t" });
    lease.release();
    expect(await asking).toEqual(DECLINED);
    await settle();
    (await server.take(ADA)).release();
    expect([server.relays.length, server.closed]).toEqual([2, 1]);
  });

  it("H-27: one whose call was given up is not given again; one whose call was refused is", async () => {
    const server = new Server();
    for (const [delivery, connections] of [
      ["answered", 1],
      ["not_sent", 1],
      ["unknown", 2],
    ] as const) {
      const lease = await server.take(ADA);
      server.failure = new RemoteConnectorError("cancelled", {
        message: "over",
        delivery,
        details: { reason: "over" },
      });
      await expect(lease.client.callTool({ name: "t" })).rejects.toBe(server.failure);
      lease.release();
      (await server.take(ADA)).release();
      expect([server.relays.length, server.closed]).toEqual([connections, connections - 1]);
    }
  });

  it("H-16, H-40: what is released after the end is kept by nobody", async () => {
    const server = new Server();
    const lease = await server.take(ADA);
    await server.leases.close();
    expect(server.closed).toBe(1);
    lease.release();
    expect(server.clock.pending).toBe(0);
  });

  it("H-27: the one that was idle longest makes room, and only when there is none", async () => {
    const server = new Server(2);
    const [bob, cyd] = [{}, {}];
    const first = await server.take(ADA);
    first.release();
    const second = await server.take(bob);
    expect(server.closed).toBe(0);
    (await server.take(ADA)).release();
    second.release();
    (await server.take(ADA)).release();
    expect([server.relays.length, server.closed]).toEqual([2, 0]);
    const third = await server.take(cyd);
    expect([server.relays.length, server.closed]).toEqual([3, 1]);
    // Bob's went; Ada's is there.
    (await server.take(ADA)).release();
    expect(server.relays).toHaveLength(3);
    third.release();
    (await server.take(bob)).release();
    expect([server.relays.length, server.closed]).toEqual([4, 2]);
  });
});
