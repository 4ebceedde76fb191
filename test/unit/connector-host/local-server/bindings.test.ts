import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type BindingRequest, Bindings } from "../../../../src/connector-host/local-server/bindings.js";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { FakeClock } from "../../../support/fake-clock.js";

const DAY_MS = 24 * 60 * 60 * 1000;

function setUp(options: { maxBindings?: number; busy?: Set<Binding> } = {}) {
  const clock = new FakeClock();
  const ended: Binding[] = [];
  let counter = 0;
  const bindings = new Bindings({
    maxBindings: options.maxBindings ?? 256,
    bindingIdleMs: DAY_MS,
    clock,
    randomBytes: (size) =>
      createHash("sha256")
        .update(String((counter += 1)))
        .digest()
        .subarray(0, size),
    isBusy: (binding) => options.busy?.has(binding) ?? false,
    onEnd: (binding) => ended.push(binding),
  });
  const bind = (agentSessionId: string, more: Partial<BindingRequest> = {}) =>
    bindings.bind({ workspaceId: "w", agentSessionId, ...more });
  const match = (token: string) => bindings.match({ authorization: `Bearer ${token}` });
  return { bindings, bind, match, clock, ended };
}

describe("H-20: bearers", () => {
  it("are 32 random bytes in base64url and stand for their session", () => {
    const { bind, match } = setUp();
    const { binding, token } = bind("s", {
      login: { accountId: "a", generation: 3 },
      invocation: { id: "i", generation: 0 },
    });
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(match(token)).toBe(binding);
    expect(binding).toEqual({
      workspaceId: "w",
      agentSessionId: "s",
      invocation: { id: "i", generation: 0 },
      login: { accountId: "a", generation: 3 },
    });
  });

  it("freeze what they stand for", () => {
    const { bind } = setUp();
    const login = { accountId: "a", generation: 3 };
    const { binding } = bind("s", { login });
    login.accountId = "b";
    expect(binding.login).toEqual({ accountId: "a", generation: 3 });
    expect(Object.isFrozen(binding) && Object.isFrozen(binding.login)).toBe(true);
  });

  it("H-32: vouch for their agent by one word alone, which nothing changes", () => {
    const { bindings } = setUp();
    const bound = (approvals: unknown) =>
      bindings.bind(Object({ workspaceId: "w", agentSessionId: "s", approvals })).binding;
    expect(bound("agent")).toMatchObject({ approvals: "agent" });
    for (const other of [undefined, null, "", "Agent", "host", true, ["agent"], { toString: () => "agent" }]) {
      expect(bound(other)).not.toHaveProperty("approvals");
    }
    expect(Object.isFrozen(bound("agent"))).toBe(true);
  });

  it("are kept only as hashes", () => {
    const { bindings, bind } = setUp();
    const { token } = bind("s");
    expect(JSON.stringify(bindings)).not.toContain(token);
  });

  it.each(["Bearer nothing", "Basic eDp5", "Bearer", "", "bearer  "])("refuse %j", (authorization) => {
    const { bindings, bind } = setUp();
    bind("s");
    expect(bindings.match({ authorization })).toBeUndefined();
    expect(bindings.match({})).toBeUndefined();
  });

  it("end when the session is bound again", () => {
    const { bindings, bind, match, ended } = setUp();
    const old = bind("s");
    const other = bind("t");
    const next = bind("s");
    expect(match(old.token)).toBeUndefined();
    expect(match(next.token)).toBe(next.binding);
    expect(match(other.token)).toBe(other.binding);
    expect(ended).toEqual([old.binding]);
    expect(bindings.size).toBe(2);
    bindings.revoke(old.binding);
    expect(match(next.token)).toBe(next.binding);
  });

  it("tell sessions of different workspaces apart, whatever their ids hold", () => {
    const { bindings } = setUp();
    bindings.bind({ workspaceId: 'a","b', agentSessionId: "c" });
    bindings.bind({ workspaceId: "a", agentSessionId: 'b","c' });
    expect(bindings.size).toBe(2);
  });

  it("end one by one and all at once", () => {
    const { bindings, bind, match, ended } = setUp();
    const [a, b, c] = [bind("a"), bind("b"), bind("c")];
    bindings.revoke(b.binding);
    bindings.revoke(b.binding);
    expect(ended).toEqual([b.binding]);
    expect(match(a.token)).toBe(a.binding);
    bindings.revokeAll();
    expect(ended).toEqual([b.binding, a.binding, c.binding]);
    expect([a, b, c].map(({ token }) => match(token))).toEqual([undefined, undefined, undefined]);
    expect(bindings.size).toBe(0);
  });

  it.each<[string, Partial<BindingRequest>, string]>([
    ["empty", { agentSessionId: "" }, "agentSessionId"],
    ["too long", { workspaceId: "x".repeat(257) }, "workspaceId"],
    ["a line break", { agentSessionId: "a\nb" }, "agentSessionId"],
    ["none", JSON.parse('{"workspaceId":null}'), "workspaceId"],
    ["a number", JSON.parse('{"agentSessionId":7}'), "agentSessionId"],
    ["a list", JSON.parse('{"agentSessionId":["s"]}'), "agentSessionId"],
    ["a profile that is none", JSON.parse('{"profile":{}}'), "profile"],
    ["a NUL", { invocation: { id: "a\0", generation: 1 } }, "invocation.id"],
  ])("are refused for an identifier that is unusable: %s", (_name, more, argument) => {
    const { bindings } = setUp();
    let caught: unknown;
    try {
      bindings.bind({ workspaceId: "w", agentSessionId: "s", ...more });
    } catch (error) {
      caught = error;
    }
    expect(isRemoteConnectorError(caught, "invalid_argument") && caught.details.argument).toBe(argument);
    expect(bindings.size).toBe(0);
  });
});

describe("H-16: the number of bearers", () => {
  it("is bounded, and says by which option", () => {
    const { bindings, bind } = setUp({ maxBindings: 2 });
    bind("a");
    bind("b");
    expect(() => bind("c")).toThrowError(
      expect.objectContaining({ code: "limit_exceeded", details: { option: "maxBindings", limit: 2 } }),
    );
    bind("b");
    expect(bindings.size).toBe(2);
  });

  it("makes room by ending idle ones", async () => {
    const { bind, match, clock } = setUp({ maxBindings: 2 });
    const idle = bind("a");
    await clock.advance(DAY_MS / 2);
    const used = bind("b");
    await clock.advance(DAY_MS / 2);
    bind("c");
    expect(match(idle.token)).toBeUndefined();
    expect(match(used.token)).toBe(used.binding);
  });
});

describe("H-16: an idle bearer", () => {
  it("ends a day after its last use", async () => {
    const { bind, match, clock, ended } = setUp();
    const { binding, token } = bind("s");
    await clock.advance(DAY_MS - 1);
    expect(match(token)).toBe(binding);
    await clock.advance(DAY_MS - 1);
    expect(match(token)).toBe(binding);
    await clock.advance(DAY_MS);
    expect(match(token)).toBeUndefined();
    expect(ended).toEqual([binding]);
  });

  it("is not one under which something runs, or just ran", async () => {
    const busy = new Set<Binding>();
    const { bindings, bind, match, clock } = setUp({ busy });
    const { binding, token } = bind("s");
    busy.add(binding);
    await clock.advance(3 * DAY_MS);
    bindings.touch(binding);
    busy.delete(binding);
    await clock.advance(DAY_MS - 1);
    expect(match(token)).toBe(binding);
  });

  it("keeps no timer", () => {
    const { bind, clock } = setUp();
    bind("s");
    expect(clock.pending).toBe(0);
  });
});
