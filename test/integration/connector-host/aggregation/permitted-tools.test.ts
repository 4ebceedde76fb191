import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { MissingConnector } from "../../../../src/connector-host/aggregation/index.js";
import { compileAccessGlobs, Permissions } from "../../../../src/connector-host/permissions/index.js";
import {
  type PermissionRules,
  tableFrom,
  type ToolPermission,
} from "../../../../src/connector-host/registration/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import type { DiscoverResult } from "../../../../src/protocol/index.js";
import { DirectoryParty, OF_DEVICE, TOOLS_CHANGED, toolsText } from "../../../support/directory-party.js";
import { Opened } from "../../../support/opened.js";
import { type ConnectorCall, working } from "../../../support/scripted-gateway.js";

const opened = new Opened();
afterEach(opened.close);

/** Rules that a test changes as a whole, and the access that a host makes of them. */
class Ruled {
  #rules: PermissionRules = { newTools: "allow", permissions: tableFrom<ToolPermission>([]) };
  #version = 1;
  #permissions = this.#by({});

  readonly access = {
    ofTool: (key: string, nativeName: string) => this.#permissions.ofTool(key, nativeName),
    mayHoldTools: (key: string) => this.#permissions.mayHoldTools(key),
    version: (key: string) => this.#permissions.version(key),
    pins: (key: string) => this.#permissions.pins(key),
  };

  set(
    newTools: ToolPermission,
    permissions: Iterable<readonly [string, ToolPermission]> = [],
    globs: object = {},
  ): void {
    this.#rules = { newTools, permissions: tableFrom(permissions) };
    this.#version += 1;
    this.#permissions = this.#by(globs);
  }

  #by(globs: object): Permissions {
    const source = { rulesOf: () => this.#rules, versionOf: () => this.#version };
    return new Permissions(source, compileAccessGlobs(globs));
  }
}

async function party(keys: readonly string[] = ["a"]) {
  const ruled = new Ruled();
  const missing: MissingConnector[] = [];
  const base = {
    scopesOf: () => ["account:ada"],
    missing: async () => missing,
    missingOne: async (_scopes: readonly string[], key: string) =>
      missing.find(({ connectorKey }) => connectorKey === key),
    onFailure: ignore,
  };
  const traits = new Map<string, typeof OF_DEVICE>();
  const woken: string[] = [];
  const wake = (_scopes: readonly string[], key: string): void => void woken.push(key);
  const reach = { ...base, wake, access: ruled.access, describe: (key: string) => traits.get(key) };
  const directory = await DirectoryParty.start(opened, keys, { reach });
  return { ruled, directory, missing, traits, woken };
}

describe("H-31: permissions in a directory", () => {
  const names = ["read", "read.all", "__proto__", "constructor", "ä", "-x0123456789ab", "READ"];

  it("a tool is listed exactly when its call is permitted or asked for, whatever the rules and globs", async () => {
    const { directory, ruled } = await party();
    directory.gateway.script("a", (call) => {
      if (call.method === "tools/list") call.result(toolsText(...names));
      else working(call);
    });
    const exposed = new Map((await directory.list()).names.map((name) => [name, true]));
    expect(exposed.size).toBe(names.length);
    const permission = fc.constantFrom<ToolPermission>("off", "ask", "allow");
    const glob = fc.constantFrom("a/read*", "a/*", "*x01*", "a/READ", "*ä*");
    const rules = fc.record({
      newTools: permission,
      permissions: fc.array(fc.tuple(fc.constantFrom(...names), permission), { maxLength: 4 }),
      globs: fc.record({ allow: fc.array(glob), deny: fc.array(glob, { maxLength: 1 }) }, { requiredKeys: [] }),
    });
    await fc.assert(
      fc.asyncProperty(rules, async ({ newTools, permissions, globs }) => {
        ruled.set(newTools, permissions, globs);
        const sent = directory.count("tools/call");
        const listed = new Set((await directory.list()).names);
        let allowed = 0;
        for (const name of exposed.keys()) {
          const code = await codeOf(directory.call(name));
          expect(["not_permitted", "approval_required", undefined]).toContain(code);
          expect([name, listed.has(name)]).toEqual([name, code !== "not_permitted"]);
          if (code === undefined) allowed += 1;
        }
        expect(directory.count("tools/call") - sent).toBe(allowed);
      }),
      { numRuns: 25 },
    );
  });

  it("H-21: one that is off before anything was listed is refused by its name alone; a marked name needs the list", async () => {
    const { directory, ruled } = await party(["a", "b"]);
    directory.gateway.script("a", (call) => {
      if (call.method === "tools/list") call.result(toolsText("read.all"));
      else working(call);
    });
    const [marked = ""] = (await directory.list()).names;
    await directory.publish("a");
    ruled.set("off");
    const before = directory.gateway.calls.length;
    for (const name of ["a_read", marked]) expect(await codeOf(directory.call(name))).toBe("not_permitted");
    expect((await directory.list()).names).toEqual([]);
    expect(directory.gateway.calls.length).toBe(before);
    ruled.set("off", [["other", "allow"]]);
    expect(await codeOf(directory.call("a_read"))).toBe("not_permitted");
    expect(directory.gateway.calls.length).toBe(before);
    expect(await codeOf(directory.call(marked))).toBe("not_permitted");
    expect([directory.count("tools/list", "a"), directory.count("tools/call")]).toEqual([2, 0]);
  });

  it("H-14: what is switched off while its server is asked what it has is refused then", async () => {
    const { directory, ruled } = await party();
    const held: ConnectorCall[] = [];
    directory.gateway.script("a", (call) => held.push(call));
    const call = codeOf(directory.call("a_echo"));
    await expect.poll(() => held.length, { interval: 5 }).toBe(1);
    ruled.set("off");
    for (const one of held) working(one);
    expect([await call, directory.count("tools/call")]).toEqual(["not_permitted", 0]);
  });

  it("H-25, H-30: what a server that is away had goes from lists, too, and those who were given it are told", async () => {
    const { directory, missing, ruled, traits, woken } = await party();
    traits.set("a", OF_DEVICE);
    await directory.listed();
    missing.push({ connectorKey: "a", state: "offline", nextAttemptAt: undefined });
    await directory.withdraw("a");
    expect(await directory.list()).toMatchObject({ names: ["a_echo"], stale: { a: "offline" } });
    const { told } = directory.listen();
    ruled.set("off", [["other", "ask"]]);
    directory.directory.onPermissionChange("a");
    await expect.poll(() => told, { interval: 5 }).toEqual([TOOLS_CHANGED]);
    expect(await directory.list()).toMatchObject({ names: [], stale: { a: "offline" } });
    ruled.set("off");
    expect(await directory.list()).toEqual({ names: [], omitted: {}, stale: {} });
    expect(await codeOf(directory.call("a_echo"))).toBe("not_permitted");
    expect(woken).toEqual([]);
  });

  it("H-31: what a connector says to models is not told where nothing of it may be used", async () => {
    const { directory, ruled } = await party();
    await directory.publish("a", { discovered: discoveredWith("Use me.") });
    expect(directory.directory.instructions(directory.binding)).toContain("Use me.");
    ruled.set("off");
    expect(directory.directory.instructions(directory.binding)).toBeUndefined();
  });
});

function discoveredWith(instructions: string): DiscoverResult {
  return { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, instructions };
}

async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (!isRemoteConnectorError(error)) throw error;
    expect(error.delivery).toBe("not_sent");
    return error.code;
  }
}

function ignore(): void {}
