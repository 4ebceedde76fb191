import { describe, expect, it } from "vitest";
import { joinRevocation } from "../../../../src/connector-host/aggregation/join-signals.js";
import { Route } from "../../../../src/connector-host/routes/index.js";
import { ScriptedClient } from "./scripted-routes.js";

function openRoute(): Route<ScriptedClient> {
  return new Route({
    connectorKey: "hub",
    scope: "device",
    scopeEpoch: "e",
    generation: 1,
    releaseDigest: "d",
    connectionVersion: 0n,
    client: new ScriptedClient(),
    tools: new Map(),
  });
}

describe("a route that is revoked", () => {
  it("H-13: tells each call that runs, once and with the reason of its signal, and none that has left", () => {
    const route = openRoute();
    const told: unknown[] = [];
    route.onRevoked((reason) => told.push(["one", reason]));
    const leave = route.onRevoked((reason) => told.push(["two", reason]));
    route.onRevoked((reason) => told.push(["three", reason]));
    leave();
    route.revoke("signed_out");
    route.revoke("again");
    const { reason } = route.signal;
    expect(told).toEqual([
      ["one", reason],
      ["three", reason],
    ]);
    expect(reason).toMatchObject({ code: "cancelled", details: { reason: "signed_out" } });
  });

  it("H-13: tells who comes too late at once", () => {
    const route = openRoute();
    route.revoke("signed_out");
    const told: unknown[] = [];
    route.onRevoked((reason) => told.push(reason))();
    expect(told).toEqual([route.signal.reason]);
  });

  it("H-13: ends a call with whichever comes first, the revocation or the agent, and no call that was let go of", () => {
    const route = openRoute();
    const [agent, other, gone] = [new AbortController(), new AbortController(), new AbortController()];
    const first = joinRevocation(route, { signal: agent.signal });
    const second = joinRevocation(route, { signal: other.signal });
    const third = joinRevocation(route, { signal: gone.signal });
    third.release();
    agent.abort("enough");
    route.revoke("signed_out");
    gone.abort("too late");
    expect(first.signal.reason).toBe("enough");
    expect(second.signal.reason).toBe(route.signal.reason);
    expect(third.signal.aborted).toBe(false);
    expect(joinRevocation(route, { signal: other.signal }).signal.reason).toBe(route.signal.reason);
  });

  it("H-13: ends a call in its own signal where that can be fired, with the reason of the route's, unless it was let go of", () => {
    const route = openRoute();
    const [call, over, gone] = [new AbortController(), new AbortController(), new AbortController()];
    const join = (controller: AbortController) =>
      joinRevocation(route, { signal: controller.signal, abort: (reason) => controller.abort(reason) });
    expect(join(call).signal).toBe(call.signal);
    join(over);
    join(gone).release();
    over.abort("enough");
    route.revoke("signed_out");
    expect(call.signal.reason).toBe(route.signal.reason);
    expect(over.signal.reason).toBe("enough");
    expect(gone.signal.aborted).toBe(false);
    expect(join(gone).signal.reason).toBe(route.signal.reason);
  });
});

describe("a superseded route whose time to drain has passed", () => {
  it("H-13: ends the calls that do not outlast it, and tells of those that do", () => {
    const route = openRoute();
    route.supersede();
    const told: unknown[] = [];
    let isHeld = false;
    route.onRevoked((reason) => told.push(["plain", reason]));
    route.onRevoked(
      (reason) => told.push(["held", reason]),
      () => isHeld,
    );
    // Nobody is left of whom more than the end of all could be said.
    expect(route.endDrain("over")).toBe(false);
    expect(told).toEqual([]);
    isHeld = true;
    expect(route.endDrain("over")).toBe(true);
    expect(told).toEqual([["plain", expect.objectContaining({ code: "cancelled", details: { reason: "over" } })]]);
    expect([route.state, route.signal.aborted]).toEqual(["superseded", false]);
    route.revoke("signed_out");
    expect(told.at(-1)).toEqual(["held", route.signal.reason]);
    expect(told).toHaveLength(2);
    expect(route.endDrain("again")).toBe(false);
  });

  it("H-13: knows what it ends calls with", () => {
    const route = openRoute();
    const told: unknown[] = [];
    route.onRevoked((reason) => told.push(reason));
    route.onRevoked(
      () => undefined,
      () => true,
    );
    route.supersede();
    expect([route.isEnd(undefined), route.isEnd(route.signal.reason)]).toEqual([false, false]);
    route.endDrain("over");
    route.revoke("signed_out");
    expect([...told, route.signal.reason, new Error("another")].map((reason) => route.isEnd(reason))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
