import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createRegistration,
  declareRegistration,
  parseRegistration,
  type RegistrationPolicy,
} from "../../../../src/connector-host/registration/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { refusedMember } from "./refused-member.js";
import { ID, requested, storedRegistration, withMember } from "./registration.fixture.js";

const member = (value: unknown, policy?: RegistrationPolicy): string =>
  refusedMember(() => parseRegistration(value, policy));

/** A registration whose settings are these. */
const reaching = (settings: unknown): Record<string, unknown> => storedRegistration({ settings });
const withHeaders = (headers: unknown): Record<string, unknown> => reaching({ endpoint: "https://a.example", headers });

describe("H-3: a registration", () => {
  it("is read whole", () => {
    const stored = storedRegistration();
    const read = parseRegistration(stored);
    expect(JSON.parse(JSON.stringify(read))).toEqual(stored);
  });

  it("needs an id, a slug, a name and an endpoint; the rest has defaults that permit nothing", () => {
    const least = { id: ID, slug: "docs", displayName: "Docs", settings: { endpoint: "https://docs.example" } };
    expect(JSON.parse(JSON.stringify(parseRegistration(least)))).toEqual({
      ...least,
      settings: { endpoint: "https://docs.example/", headers: {}, protocol: "auto" },
      deadlines: {},
      capabilities: ["tools"],
      state: "paused",
      newTools: "off",
      permissions: {},
      descriptions: {},
    });
    for (const name of Object.keys(least)) expect(member({ ...least, [name]: undefined })).toBe(name);
  });

  it("is a frozen copy of its own", () => {
    const stored = storedRegistration();
    const read = parseRegistration(stored);
    Object.assign(Object(stored["permissions"]), { later: "allow" });
    expect(Object.keys(read.permissions)).not.toContain("later");
    const { settings, deadlines, capabilities, permissions, descriptions } = read;
    const { headers } = settings;
    const parts = [settings, headers, headers["Authorization"], deadlines, capabilities, permissions, descriptions];
    for (const part of [read, ...parts, descriptions["search"], descriptions["search"]?.properties]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it.each(["anything", "connected", "permission", "__proto__", "constructor"])(
    "that holds %s is refused by that name, wherever it stands",
    (name) => {
      const value = { deep: 1 };
      const settings = { endpoint: "https://a.example" };
      expect(member(withMember(storedRegistration(), name, value))).toBe(name);
      expect(member(reaching(withMember(settings, name, value)))).toBe(`settings.${name}`);
      expect(member(storedRegistration({ deadlines: withMember({}, name, 1) }))).toBe(`deadlines.${name}`);
      const descriptions = { t: withMember({ description: "d" }, name, "x") };
      expect(member(storedRegistration({ id: 1, descriptions }))).toBe(`descriptions.t.${name}`);
    },
  );

  it.each<[string, unknown]>([
    ["id", storedRegistration({ id: ID.toUpperCase() })],
    ["id", storedRegistration({ id: `{${ID}}` })],
    ["id", storedRegistration({ id: "docs" })],
    ["slug", storedRegistration({ slug: "Docs" })],
    ["slug", storedRegistration({ slug: "docs-" })],
    ["slug", storedRegistration({ slug: "a".repeat(129) })],
    ["displayName", storedRegistration({ displayName: "" })],
    ["displayName", storedRegistration({ displayName: " Docs" })],
    ["displayName", storedRegistration({ displayName: "Do\u001b[2Jcs" })],
    ["displayName", storedRegistration({ displayName: "x".repeat(129) })],
    ["state", storedRegistration({ state: "connected" })],
    ["deadlines.totalTimeoutMs", storedRegistration({ deadlines: { totalTimeoutMs: 0 } })],
    ["deadlines.listTimeoutMs", storedRegistration({ deadlines: { listTimeoutMs: 86_400_001 } })],
    ["deadlines.idleTimeoutMs", storedRegistration({ deadlines: { idleTimeoutMs: "60" } })],
    ["newTools", storedRegistration({ newTools: "on" })],
    ["permissions.search", storedRegistration({ permissions: { search: "yes" } })],
    ["permissions.", storedRegistration({ permissions: { "": "ask" } })],
    ["permissions", storedRegistration({ permissions: [] })],
    ["descriptions.search", storedRegistration({ descriptions: { search: {} } })],
    ["descriptions.search.properties", storedRegistration({ descriptions: { search: { properties: {} } } })],
    ["descriptions.search.properties.q", storedRegistration({ descriptions: { search: { properties: { q: 1 } } } })],
    ["descriptions.search.description", storedRegistration({ descriptions: { search: { description: "\ud800" } } })],
    ["", null],
    ["", []],
    ["", "registration"],
  ])("is refused at %s (%#)", (path, value) => {
    expect(member(value)).toBe(path);
  });

  it("holds no more names than it may, and none longer than a tool's can be", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, "ask"]));
    expect(member(storedRegistration({ permissions: many(2_048) }))).toBe("(accepted)");
    expect(member(storedRegistration({ permissions: many(2_049) }))).toBe("permissions");
    expect(member(storedRegistration({ permissions: { ["é".repeat(128)]: "ask" } }))).toBe("(accepted)");
    expect(member(storedRegistration({ permissions: { ["é".repeat(129)]: "ask" } }))).toMatch(/^permissions\.é/);
  });

  it("H-31: has permissions for tools of any name, and none that nobody gave", () => {
    const names = ["constructor", "__proto__", "toString", "10", "9", "a.b/c", "查询"];
    let permissions: object = {};
    for (const name of names) permissions = withMember(permissions, name, "allow");
    const read = parseRegistration(storedRegistration({ permissions }));
    for (const name of names) expect(read.permissions[name]).toBe("allow");
    expect(Object.keys(read.permissions)).toHaveLength(names.length);
    expect(parseRegistration(storedRegistration({ permissions: {} })).permissions["constructor"]).toBeUndefined();
  });
});

describe("H-3: the endpoint of a registration", () => {
  it.each<[string, string]>([
    ["https://docs.example/mcp", "https://docs.example/mcp"],
    ["HTTPS://Docs.Example:443", "https://docs.example/"],
    ["http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080/mcp"],
    ["http://localhost/mcp", "http://localhost/mcp"],
    ["http://[::1]:1/", "http://[::1]:1/"],
    ["https://docs.example/mcp?key=a%20b", "https://docs.example/mcp?key=a%20b"],
  ])("can be %s", (endpoint, normal) => {
    expect(parseRegistration(reaching({ endpoint })).settings.endpoint).toBe(normal);
  });

  it.each([
    "http://docs.example/mcp",
    "http://localhost.example/",
    "http://10.0.0.1/",
    "ws://docs.example/",
    "file:///etc/passwd",
    "docs.example/mcp",
    "/mcp",
    "",
    "https://me@docs.example/",
    "https://me:word@docs.example/",
    "https://docs.example/#part",
    "https://docs.example/#",
    `https://docs.example/${"x".repeat(4_096)}`,
    42,
  ])("can't be %s", (endpoint) => {
    expect(member(reaching({ endpoint }))).toBe("settings.endpoint");
  });

  it("is plain http on loopback only, unless the host allows it", () => {
    const plain = reaching({ endpoint: "http://docs.example/mcp" });
    expect(member(plain, { allowInsecureHttp: true })).toBe("(accepted)");
    expect(member(reaching({ endpoint: "ftp://docs.example/" }), { allowInsecureHttp: true })).toBe(
      "settings.endpoint",
    );
  });

  it("F-6 is never shown by the error that refuses it", () => {
    const endpoint = "http://me:hunter2@docs.example/?key=hunter2#hunter2";
    const refusal = thrownBy(() => parseRegistration(reaching({ endpoint })));
    expect(JSON.stringify([refusal, String(refusal)])).not.toContain("hunter2");
  });
});

describe("H-3: the headers of a registration", () => {
  it.each([
    "Host",
    "host",
    "Content-Length",
    "Content-Type",
    "Accept",
    "Connection",
    "Transfer-Encoding",
    "Mcp-Session-Id",
    "MCP-Protocol-Version",
    "mcp-param-x",
    "two words",
    "",
    "x:",
    "é",
    "x".repeat(129),
  ])("can't be called %j", (name) => {
    expect(member(withHeaders({ [name]: "v" }))).toBe(`settings.headers.${name}`);
  });

  it.each<[string, unknown]>([
    ["a text", "v"],
    ["an empty text", ""],
    ["a secret", { secret: "docs/token 1".replace(" ", "_") }],
    ["a variable", { env: "DOCS_TOKEN" }],
    ["a variable with a default", { env: "DOCS_TEAM", default: "blue" }],
    ["several of these", ["a", { secret: "s" }, "b", { env: "E" }]],
  ])("can be %s", (_, value) => {
    const { headers } = parseRegistration(withHeaders({ "X-Team": value })).settings;
    expect(headers["X-Team"]).toEqual(value);
  });

  it.each([
    1,
    null,
    [],
    {},
    { secret: "" },
    { secret: "two words" },
    { secret: 1 },
    { secret: "a", env: "B" },
    { env: "1A" },
    { env: "A=B" },
    { file: "/etc/passwd" },
    "a\r\nX-Other: b",
    "\ud800",
    "€",
    { env: "A", default: "\n" },
    ["a", ["b"]],
    Array.from({ length: 17 }, () => "a"),
  ])("can't be %j", (value) => {
    expect(member(withHeaders({ "X-Team": value }))).toMatch(/^settings\.headers\.X-Team(?:\.(?:secret|env))?$/);
  });

  it("are there once, whatever their case", () => {
    expect(member(withHeaders({ "X-Team": "a", "x-team": "b" }))).toBe("settings.headers.x-team");
  });

  it("F-17 hold no credential themselves, unless the host allows it", () => {
    const inline: [string, unknown][] = [
      ["Authorization", "Bearer hunter2"],
      ["X-API-Key", "hunter2"],
      ["x_auth_token", ["hun", "ter2"]],
      ["Cookie", { env: "COOKIE", default: "hunter2" }],
      ["apiKey", "hunter2"],
    ];
    for (const [name, value] of inline) {
      const registration = withHeaders({ [name]: value });
      expect(member(registration)).toBe(`settings.headers.${name}`);
      expect(JSON.stringify(thrownBy(() => parseRegistration(registration)))).not.toContain("hunter2");
      expect(member(registration, { allowInlineSecrets: true })).toBe("(accepted)");
    }
    const references = { Authorization: ["Bearer ", { secret: "s" }], "X-API-Key": { env: "KEY" }, "X-Token": "" };
    expect(member(withHeaders(references))).toBe("(accepted)");
    expect(member(withHeaders({ "X-Monkey": "a", "X-Token-File": "b", "X-Idempotency": "c" }))).toBe("(accepted)");
  });

  it("can be called __proto__ and constructor", () => {
    const { headers } = parseRegistration(withHeaders(withMember({ constructor: "a" }, "__proto__", "b"))).settings;
    expect(headers["constructor"]).toBe("a");
    expect(headers["__proto__"]).toBe("b");
  });
});

describe("H-3: a new registration", () => {
  it("is paused, and its tools are off", () => {
    const made = createRegistration(requested(), ID);
    expect(made).toMatchObject({ id: ID, slug: "docs", state: "paused", newTools: "off" });
    expect(Object.keys(made.permissions)).toEqual([]);
  });

  it.each(["state", "permissions", "newTools", "id"])("can't be asked to have %s", (name) => {
    const request = withMember(requested(), name, name === "state" ? "active" : {});
    expect(refusedMember(() => createRegistration(request, ID))).toBe(name);
  });

  it("needs an id that is one", () => {
    expect(refusedMember(() => createRegistration(requested(), "1"))).toBe("id");
  });

  it("of the host's own configuration is active, and allows all that the file does not restrict", () => {
    expect(declareRegistration(requested(), ID)).toMatchObject({ state: "active", newTools: "allow" });
    const restricted = requested({ newTools: "ask", permissions: { drop: "off" } });
    const declared = declareRegistration(restricted, ID);
    expect(declared).toMatchObject({ state: "active", newTools: "ask" });
    expect(declared.permissions["drop"]).toBe("off");
    expect(refusedMember(() => declareRegistration(requested({ state: "paused" }), ID))).toBe("state");
  });

  it("keeps to the host's policy, whose names are checked", () => {
    const plain = requested({ settings: { endpoint: "http://docs.example/" } });
    expect(refusedMember(() => createRegistration(plain, ID))).toBe("settings.endpoint");
    expect(createRegistration(plain, ID, { allowInsecureHttp: true }).settings.endpoint).toBe("http://docs.example/");
    const misspelt = Object.fromEntries([["allowInsecureHTTP", true]]);
    expect(() => createRegistration(plain, ID, misspelt)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});

describe("H-3: whatever is given as a registration", () => {
  const names = fc.constantFrom("__proto__", "constructor", "toString", "X-Team", "x", "10", "");
  const json = fc.jsonValue({ maxDepth: 3 });
  const mostly = (good: fc.Arbitrary<unknown>) =>
    fc.oneof({ arbitrary: good, weight: 12 }, { arbitrary: json, weight: 1 });
  const table = (value: fc.Arbitrary<unknown>) =>
    fc.array(fc.tuple(names, mostly(value)), { maxLength: 3 }).map((entries) => {
      let made: object = {};
      for (const [name, each] of new Map(entries)) made = withMember(made, name, each);
      return made;
    });
  const odd = fc.record(
    {
      id: mostly(fc.constant(ID)),
      slug: mostly(fc.constant("docs")),
      displayName: mostly(fc.constant("Docs")),
      settings: mostly(
        fc.record({
          endpoint: mostly(fc.constantFrom("https://a.example", "http://[::1]")),
          headers: mostly(table(fc.constantFrom<unknown>("v", { secret: "s" }, ["a", { env: "E" }]))),
        }),
      ),
      permissions: mostly(table(fc.constantFrom("off", "ask", "allow"))),
      descriptions: mostly(table(fc.constant({ description: "d" }))),
    },
    { requiredKeys: ["id", "slug", "displayName", "settings"] },
  );

  it("is a registration, or refused with invalid_registration, and changes no prototype", () => {
    const counts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(fc.oneof({ arbitrary: odd, weight: 19 }, json), (value) => {
        const outcome = outcomeOf(() => parseRegistration(value));
        if (outcome instanceof Error) {
          counts.refused += 1;
          expect(isRemoteConnectorError(outcome, "invalid_registration")).toBe(true);
        } else {
          counts.accepted += 1;
          const again = parseRegistration(JSON.parse(JSON.stringify(outcome)));
          expect(again).toEqual(outcome);
        }
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { seed: 3, numRuns: 600 },
    );
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(20);
  });
});

function outcomeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

function thrownBy(run: () => unknown): Error {
  const outcome = outcomeOf(run);
  if (!(outcome instanceof Error)) throw new Error("It was accepted.");
  return outcome;
}
