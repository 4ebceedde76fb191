import { describe, expect, it } from "vitest";
import { followedScopes, reachedScopes } from "../../../../src/connector-host/host/bound-scopes.js";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";

const ada = { accountId: "ada", generation: 2 };
const bob = { accountId: "bob", generation: 3 };

function binding(changes: Partial<Binding>): Binding {
  return { workspaceId: "w", agentSessionId: "s", invocation: undefined, login: undefined, ...changes };
}

const ANONYMOUS = binding({});
const SESSION = binding({ login: ada });
const EARLIER = binding({ login: { ...ada, generation: 1 } });
const DURABLE = binding({ durable: { name: "editor", accountId: "ada" } });
const DEVICE_ONLY = binding({ durable: { name: "editor", accountId: undefined } });

describe("reachedScopes", () => {
  it.each([
    ["nobody's session, signed out", ANONYMOUS, undefined, ["device"]],
    ["nobody's session, whoever signs in", ANONYMOUS, ada, ["device"]],
    ["a session, in its login", SESSION, ada, ["account:ada", "device"]],
    ["a session whose login has ended", SESSION, undefined, []],
    ["a session of an earlier login of the account", EARLIER, ada, []],
    ["a session, as another account", SESSION, bob, []],
    ["a durable one, in any login of its account", DURABLE, ada, ["account:ada", "device"]],
    ["a durable one, as another account", DURABLE, bob, ["device"]],
    ["a durable one, signed out", DURABLE, undefined, ["device"]],
    ["a durable one without account", DEVICE_ONLY, ada, ["device"]],
  ])("P-8, H-20: %s", (_what, of, current, scopes) => expect(reachedScopes(of, current)).toEqual(scopes));

  it("P-8: a binding is told of what it has just lost, too", () => {
    expect([SESSION, EARLIER, DURABLE].map(followedScopes)).toEqual([
      ["account:ada", "device"],
      ["account:ada", "device"],
      ["account:ada", "device"],
    ]);
    expect(followedScopes(ANONYMOUS)).toEqual(["device"]);
  });
});
