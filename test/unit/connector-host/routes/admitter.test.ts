import { describe, expect, it } from "vitest";
import { createAdmitter } from "../../../../src/connector-host/routes/index.js";
import { openBench, routeOf } from "./scripted-routes.js";

describe("H-14: the last check before a call is sent", () => {
  it("admits over a published route, again and again", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    const admit = createAdmitter(table, route);
    expect([admit(), admit()]).toEqual([undefined, undefined]);
  });

  it("knows a route that was revoked, superseded, or never published", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    const admit = createAdmitter(table, route);
    expect(admit()).toBe("route_not_published");
    await table.commit(route);
    expect(admit()).toBeUndefined();
    await table.commit(routeOf(2));
    expect(admit()).toBe("route_superseded");
    route.revoke("test");
    expect(admit()).toBe("route_revoked");
  });

  it("★ item 18: refuses from the very step of the fence, though nothing was awaited since", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    const admit = createAdmitter(table, route);
    table.fenceAll("acc");
    expect(admit()).toBe("route_revoked");
  });

  it("refuses over a route of a table that is closed", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    const admit = createAdmitter(table, route);
    const closing = table.close(10);
    expect(admit()).toBe("route_revoked");
    await closing;
  });

  it("H-14, H-32: asks last whether it is approved, so that what is refused uses no approval", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    let asked = 0;
    let isGood = true;
    const isApproved = () => {
      asked += 1;
      return isGood;
    };
    let version = 1;
    const permission = { value: 1, current: () => version };
    const admit = createAdmitter(table, route, { permission, isApproved });
    expect([admit(), asked]).toEqual([undefined, 1]);
    isGood = false;
    expect([admit(), asked]).toEqual(["approval_expired", 2]);
    version = 2;
    expect([admit(), asked]).toEqual(["permission_changed", 2]);
  });

  it.each([
    ["login", "login_changed", 3, 4],
    ["permission", "permission_changed", 7n, 8n],
    ["contract", "contract_changed", "digest-a", "digest-b"],
  ])("compares the %s that the call was prepared with", async (pin, refusal, value, later) => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    let now: string | number | bigint | undefined = value;
    const admit = createAdmitter(table, route, { [pin]: { value, current: () => now } });
    expect(admit()).toBeUndefined();
    now = later;
    expect(admit()).toBe(refusal);
    now = undefined;
    expect(admit()).toBe(refusal);
    now = value;
    expect(admit()).toBeUndefined();
  });

  it("treats 0 and the empty text as values", async () => {
    const { table } = openBench();
    const route = routeOf(1);
    await table.commit(route);
    const pin = { value: 0, current: () => undefined };
    expect(createAdmitter(table, route, { login: pin })()).toBe("login_changed");
    expect(createAdmitter(table, route, { contract: { value: "", current: () => "" } })()).toBeUndefined();
  });
});
