import { inspect } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRegistrationRequest, parseStdioConnector } from "../../../../src/connector-host/registration/index.js";
import { importServers } from "../../../../src/connector-host/server-import/index.js";
import { withMember } from "../registration/registration.fixture.js";
import { accepted, imported, program, refusedAt, registered } from "./accepted-import.js";

const http = (entry: object) => ({ mcpServers: { docs: { url: "https://docs.example/mcp", ...entry } } });
const stdio = (entry: object) => ({ mcpServers: { files: { command: "npx", ...entry } } });

describe("H-3: what an import takes", () => {
  it("programs and servers of one file, in its order, all paused and without permissions", () => {
    const file = `\ufeff{
      // What Claude Desktop has.
      "globalShortcut": "Ctrl+Space",
      "mcpServers": {
        "files": { "command": "npx", "args": ["-y", "files-server", "/srv"], "env": { "LANG": "C", "PORT": 8080 } },
        /* and one over HTTP */
        "docs": { "type": "http", "url": "https://docs.example/mcp", "headers": { "X-Team": "blue", }, },
      },
    }`;
    const { servers, secrets, missing, notes } = accepted(file);
    expect(servers.map(({ kind, member, isDisabled }) => [kind, member, isDisabled])).toEqual([
      ["stdio", "mcpServers.files", false],
      ["registration", "mcpServers.docs", false],
    ]);
    expect([secrets, missing, notes]).toEqual([[], [], []]);
    expect(servers[0]).toMatchObject({
      connector: {
        key: "files",
        displayName: "files",
        command: "npx",
        args: ["-y", "files-server", "/srv"],
        env: { LANG: "C", PORT: "8080" },
        state: "paused",
        newTools: "off",
      },
    });
    expect(servers[1]).toMatchObject({
      request: { slug: "docs", settings: { endpoint: "https://docs.example/mcp", headers: { "X-Team": "blue" } } },
    });
    expect(registered(accepted(http({})))).toMatchObject({ state: "paused", newTools: "off", permissions: {} });
  });

  it.each<[string, object, string]>([
    ["an address alone", {}, "auto"],
    ["type http", { type: "http" }, "auto"],
    ["type streamable-http", { type: "streamable-http" }, "auto"],
    ["type streamableHttp", { type: "streamableHttp" }, "auto"],
    ["transport streamable_http", { transport: "streamable_http" }, "auto"],
    ["type remote", { type: "remote" }, "auto"],
    ["type sse", { type: "sse" }, "sse"],
    ["transportType sse", { transportType: "sse", type: "sse" }, "sse"],
  ])("a server over HTTP by %s", (_, entry, protocol) => {
    expect(registered(accepted(http(entry)))["settings"]).toMatchObject({ protocol });
  });

  it.each(["url", "serverUrl", "httpUrl"])("the address as %s", (name) => {
    const file = { mcpServers: { docs: { [name]: "https://docs.example/mcp" } } };
    expect(registered(accepted(file))["settings"]).toMatchObject({ endpoint: "https://docs.example/mcp" });
    const bad = { mcpServers: { docs: { [name]: "gopher://docs.example/mcp" } } };
    expect(refusedAt(bad)).toEqual([`mcpServers.docs.${name}`]);
  });

  it("VS Code's file, and its settings, with the inputs that they declare", () => {
    const holder = {
      inputs: [{ type: "promptString", id: "key", description: "The key", password: true }, { id: "unused" }],
      servers: {
        docs: { type: "http", url: "https://docs.example/", headers: { Authorization: "Bearer ${input:key}" } },
        files: { type: "stdio", command: "files", env: { KEY: "${input:key}", ROOT: "${env:HOME}/x", OLD: null } },
      },
    };
    for (const [prefix, file] of [["", holder] as const, ["mcp.", { mcp: holder, "editor.tabSize": 2 }] as const]) {
      const { servers, missing, secrets } = accepted(file);
      expect(servers.map(({ member }) => member)).toEqual([`${prefix}servers.docs`, `${prefix}servers.files`]);
      expect(servers[0]).toMatchObject({
        request: { settings: { headers: { Authorization: ["Bearer ", { secret: "docs/input/key" }] } } },
      });
      expect(servers[1]).toMatchObject({
        connector: { env: { KEY: { secret: "files/input/key" }, ROOT: [{ env: "HOME" }, "/x"], OLD: null } },
      });
      expect(secrets).toEqual([]);
      expect(missing).toEqual([
        {
          name: "docs/input/key",
          member: `${prefix}servers.docs.headers.Authorization`,
          input: { id: "key", description: "The key" },
        },
        {
          name: "files/input/key",
          member: `${prefix}servers.files.env.KEY`,
          input: { id: "key", description: "The key" },
        },
      ]);
    }
  });

  it("an input once for each server, however often that uses it", () => {
    const env = { A: "${input:key}", B: "x${input:key}" };
    const file = { inputs: [{ id: "key" }], servers: { files: { command: "files", env } } };
    expect(accepted(file).missing).toEqual([
      { name: "files/input/key", member: "servers.files.env.A", input: { id: "key" } },
    ]);
  });

  it("variables, as each kind of file writes them", () => {
    const env = {
      A: "${B}",
      C: "${D:-e:-f}",
      G: "${env:H}",
      I: "x${J}y${K}",
      L: "${env:M}${env:N}",
      O: "$5 and $",
      P: "$",
    };
    expect(program(accepted(stdio({ env, args: ["--root=${ROOT}"] })))).toMatchObject({
      args: [["--root=", { env: "ROOT" }]],
      env: {
        A: { env: "B" },
        C: { env: "D", default: "e:-f" },
        G: { env: "H" },
        I: ["x", { env: "J" }, "y", { env: "K" }],
        L: [{ env: "M" }, { env: "N" }],
        O: "$5 and $",
        P: "$",
      },
    });
    const plain = { servers: { files: { command: "files", env: { A: "$B" } } } };
    expect(program(accepted(plain))).toMatchObject({ env: { A: "$B" } });
    const { notes, ...rest } = accepted(stdio({ env: { TOKEN: "$MY_TOKEN" } }));
    expect(program({ notes, ...rest })).toMatchObject({ env: { TOKEN: { env: "MY_TOKEN" } } });
    expect(notes).toMatchObject([{ kind: "read_as_variable", member: "mcpServers.files.env.TOKEN" }]);
  });

  it("what says nothing of how a server is reached, by leaving it out and saying so", () => {
    const odd = {
      disabled: true,
      autoApprove: ["run"],
      timeout: 60,
      description: "Docs",
      alwaysAllow: [],
      trust: true,
    };
    const { servers, notes } = accepted(http(odd));
    expect(servers[0]?.isDisabled).toBe(true);
    expect(notes.map(({ kind, member }) => [kind, member])).toEqual(
      Object.keys(odd).map((name) => ["left_out", `mcpServers.docs.${name}`]),
    );
    expect(accepted(http({ enabled: false })).servers[0]?.isDisabled).toBe(true);
    expect(accepted(http({ disabled: "true" })).servers[0]?.isDisabled).toBe(false);
  });

  it("an empty object of servers, whatever else the file holds", () => {
    expect(accepted({ mcpServers: {} }).servers).toEqual([]);
    expect(accepted('{"theme": {"a": 1, "a": 2}, "theme": "dark", "mcpServers": {}}').servers).toEqual([]);
  });
});

describe("H-3: secrets of an import", () => {
  it("userinfo of an address becomes a header that refers to one", () => {
    const result = accepted({ mcpServers: { docs: { url: "https://m%C3%A9:p%40ss%3Aword@docs.example/mcp?a=b" } } });
    expect(registered(result)["settings"]).toEqual({
      endpoint: "https://docs.example/mcp?a=b",
      headers: { Authorization: ["Basic ", { secret: "docs/header/authorization" }] },
      protocol: "auto",
    });
    const [secret, ...rest] = result.secrets;
    expect(rest).toEqual([]);
    expect(secret).toMatchObject({ name: "docs/header/authorization", member: "mcpServers.docs.url" });
    expect(Buffer.from(secret?.reveal() ?? "", "base64").toString("utf8")).toBe("mé:p@ss:word");
  });

  it("a user without a password, or a password without a user, is sent as it is", () => {
    for (const [userinfo, sent] of [
      ["key", "key:"],
      ["key:", "key:"],
      [":word", ":word"],
    ] as const) {
      const { secrets } = accepted({ mcpServers: { docs: { url: `https://${userinfo}@docs.example/` } } });
      expect(Buffer.from(secrets[0]?.reveal() ?? "", "base64").toString("utf8")).toBe(sent);
    }
  });

  it("a credential in a header or a variable comes back beside the definition", () => {
    const headers = accepted(http({ headers: { Authorization: "Bearer abc", "X-Api-Key": "def", "X-Team": "blue" } }));
    expect(registered(headers)["settings"]).toMatchObject({
      headers: {
        Authorization: { secret: "docs/header/authorization" },
        "X-Api-Key": { secret: "docs/header/x-api-key" },
        "X-Team": "blue",
      },
    });
    const variables = accepted(stdio({ env: { GITHUB_TOKEN: "ghp", EMPTY_TOKEN: "", TOKEN_FILE: "/run/t" } }));
    expect(program(variables)["env"]).toEqual({
      GITHUB_TOKEN: { secret: "files/env/GITHUB_TOKEN" },
      EMPTY_TOKEN: "",
      TOKEN_FILE: "/run/t",
    });
    const kept = [...headers.secrets, ...variables.secrets].map((each) => [each.name, each.member, each.reveal()]);
    expect(kept).toEqual([
      ["docs/header/authorization", "mcpServers.docs.headers.Authorization", "Bearer abc"],
      ["docs/header/x-api-key", "mcpServers.docs.headers.X-Api-Key", "def"],
      ["files/env/GITHUB_TOKEN", "mcpServers.files.env.GITHUB_TOKEN", "ghp"],
    ]);
  });

  it("no two of them share a name, however servers and variables are called", () => {
    const env = { "env.KEY": "1", KEY: "2" };
    const names = ["a", "a.env", "a.env.KEY", "a_env"];
    const { secrets } = accepted({
      mcpServers: Object.fromEntries(names.map((name) => [name, { command: "run", env }])),
    });
    expect(new Set(secrets.map(({ name }) => name)).size).toBe(names.length * 2);
  });

  it("F-6 they are in nothing that is shown, also when the file is refused", () => {
    const servers = {
      a: { url: "https://hunter2:hunter2@docs.example/", headers: { "X-Token": "hunter2", Cookie: "hunter2" } },
      b: { command: "run", env: { TOKEN: "hunter2" } },
    };
    const good = accepted({ mcpServers: servers });
    expect(good.secrets).toHaveLength(4);
    const bad = imported(
      JSON.stringify({
        mcpServers: {
          ...servers,
          c: { url: "https://hunter2:hunter2@docs.example/#x", headers: { Authorization: "hunter2" } },
          d: { url: "https://docs.example/", headers: { "X-Token": "hunter2\n", "X-Key": "${x:-hunter2}" } },
          e: { command: "hunter2/x", env: { TOKEN: "hunter2\0", A: ["hunter2"] }, args: [{ hunter: "hunter2" }] },
        },
      }),
    );
    expect(bad.kind).toBe("refused");
    for (const result of [good, bad]) {
      expect(JSON.stringify(result)).not.toContain("hunter2");
      expect(inspect(result, { depth: 9, showHidden: true })).not.toContain("hunter2");
    }
  });

  it("what may be one in an argument or a query is told, and stays", () => {
    const args = ["--token=abc", "--api-key", "def", "--verbose", "--token", "${TOKEN}", "--key"];
    const programs = accepted(stdio({ args }));
    expect(programs.notes.map(({ kind, member }) => [kind, member])).toEqual([
      ["may_show_credential", "mcpServers.files.args.0"],
      ["may_show_credential", "mcpServers.files.args.1"],
    ]);
    const shown = [
      "--header",
      "Authorization: Bearer abc",
      "-e",
      "GITHUB_TOKEN=abc",
      "db://me:abc@db.example/x",
      "https://docs.example/?apiKey=abc",
    ];
    const hidden = [
      "Authorization",
      "LEVEL=info",
      "https://docs.example/a?team=1",
      "Authorization: Bearer ${A}",
      "a=b=c",
      "C:\\token",
    ];
    const { notes } = accepted(stdio({ args: [...shown, ...hidden] }));
    expect(notes.map(({ member }) => member)).toEqual([1, 3, 4, 5].map((n) => `mcpServers.files.args.${String(n)}`));
    expect(JSON.stringify(notes)).not.toContain("abc");
    const query = accepted({ mcpServers: { docs: { url: "https://docs.example/?apiKey=abc&team=1" } } });
    expect(query.notes).toMatchObject([{ kind: "may_show_credential", member: "mcpServers.docs.url" }]);
    expect(JSON.stringify([programs.notes, query.notes])).not.toContain("abc");
  });
});

describe("H-3: what an import refuses", () => {
  it("everything, when one entry is at fault; and says all that is", () => {
    const file = {
      mcpServers: {
        good: { command: "run" },
        plain: { url: "http://docs.example/" },
        none: {},
        both: { command: "run", url: "https://docs.example/" },
      },
    };
    expect(refusedAt(file)).toEqual(["mcpServers.plain.url", "mcpServers.none", "mcpServers.both"]);
    expect(refusedAt(file, { allowInsecureHttp: true })).toEqual(["mcpServers.none", "mcpServers.both"]);
  });

  it.each<[string, readonly string[], unknown]>([
    ["no object", [""], "[]"],
    ["nothing", [""], ""],
    ["only a comment", [""], "// nothing\n"],
    ["a text that ends early", [""], '{"mcpServers": {'],
    ["single quotes", [""], "{'mcpServers': {}}"],
    ["something after the end", [""], '{"mcpServers": {}} {}'],
    ["neither kind of object", [""], { context_servers: {} }],
    ["servers in an array", ["servers"], { servers: [{ name: "a", command: "run" }] }],
    ["a name twice", ["mcpServers.a"], '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}'],
    ["a member twice", ["mcpServers.a.command"], '{"mcpServers": {"a": {"command": "x", "command": "y"}}}'],
    ["servers twice", ["mcpServers"], '{"mcpServers": {}, "mcpServers": {}}'],
    ["an entry that is no object", ["mcpServers.a"], { mcpServers: { a: "npx" } }],
    ["an empty name", ["mcpServers."], { mcpServers: { " ": { command: "a" }, "": { command: "a" } } }],
    ["a name with a line break", ["mcpServers.a b"], { mcpServers: { "a\nb": { command: "a" } } }],
    ["a name that is no text", ["mcpServers.\ud800"], { mcpServers: { "\ud800": { command: "a" } } }],
  ])("%s", (_, members, file) => {
    expect(refusedAt(file).at(-1)).toBe(members[0]);
  });

  it.each<[string, object]>([
    ["type", { type: "ws" }],
    ["type", { type: "stdio" }],
    ["type", { type: 1 }],
    ["transport", { transport: { type: "sse" } }],
    ["transportType", { type: "sse", transportType: "http" }],
    ["transport", { type: "http", transport: "sse" }],
    ["serverUrl", { serverUrl: "https://docs.example/" }],
    ["url", { url: "docs.example" }],
    ["url", { url: "https://docs.example/#part" }],
    ["url", { url: "https://${env:HOST}/mcp" }],
    ["url", { url: "https://docs.example/?key=${input:key}" }],
    ["url", { url: ["https://docs.example/"] }],
    ["url", { url: "https://%ff@docs.example/" }],
    ["url", { url: "https://a%3Ab:c@docs.example/" }],
    ["url", { url: "https://me@docs.example/", headers: { authorization: "Bearer ${A}" } }],
    ["headers", { headers: ["X-Team: blue"] }],
    ["headers.Host", { headers: { Host: "a" } }],
    ["headers.Mcp-Session-Id", { headers: { "Mcp-Session-Id": "a" } }],
    ["headers.X-Team", { headers: { "X-Team": 1 } }],
    ["headers.X-Team", { headers: { "X-Team": "a\r\nb" } }],
    ["headers.X-Team", { headers: { "X-Team": "${input:team}" } }],
    ["headers.X-Team", { headers: { "X-Team": "${workspaceFolder}" } }],
    ["headers.X-Team", { headers: { "X-Team": "${command:pick}" } }],
    ["headers.X-Team", { headers: { "X-Team": "${}" } }],
    ["headers.X-Team", { headers: { "X-Team": "${A:-${B}}" } }],
    ["headers.X-Team", { headers: { "X-Team": "${A:-{}}" } }],
    ["headers.X-Team", { headers: { "X-Team": "${A} ${B" } }],
    ["headers.X-Token", { headers: { "X-Token": "${TOKEN" } }],
    ["headers.X-Token", { headers: { "X-Token": "${TOKEN:-abc}" } }],
    ["headers.x-team", { headers: { "X-Team": "a", "x-team": "b" } }],
    ["args", { args: ["-y"] }],
    ["oauth", { oauth: { clientId: "a" } }],
    ["headersHelper", { headersHelper: "/bin/token" }],
    ["constructor", { constructor: 1 }],
    ["__proto__", withMember({}, "__proto__", { command: "run" })],
  ])("a server over HTTP at %s (%#)", (member, entry) => {
    const { url = "https://docs.example/mcp" } = Object(entry);
    const file = { mcpServers: { docs: withMembers({ url }, entry) } };
    expect(refusedAt(file)).toEqual([`mcpServers.docs.${member}`]);
  });

  it.each<[string, object]>([
    ["type", { type: "http" }],
    ["command", { command: ["npx", "-y"] }],
    ["command", { command: "./run" }],
    ["command", { command: "${workspaceFolder}/run" }],
    ["args", { args: "-y files" }],
    ["args.1", { args: ["-y", 1] }],
    ["args.0", { args: ["${workspaceFolder}"] }],
    ["env", { env: ["A=B"] }],
    ["env.A", { env: { A: true } }],
    ["env.A", { env: { A: 1.1 } }],
    ["env.A", { env: { A: 2 ** 53 } }],
    ["env.A", { env: { A: "\0" } }],
    ["env.TOKEN", { env: { TOKEN: "\0" } }],
    ["env.A=B", { env: { "A=B": "c" } }],
    ["cwd", { cwd: "server" }],
    ["cwd", { cwd: "${workspaceFolder}" }],
    ["envFile", { envFile: ".env" }],
    ["headers", { headers: { "X-Team": "blue" } }],
    ["sandbox", { sandbox: {} }],
    ["shell", { shell: true }],
  ])("a program at %s (%#)", (member, entry) => {
    expect(refusedAt(stdio(entry))).toEqual([`mcpServers.files.${member}`]);
  });

  it("inputs that can't be told apart, or are none", () => {
    const servers = { files: { command: "run" } };
    expect(refusedAt({ servers, inputs: {} })).toEqual(["inputs"]);
    expect(refusedAt({ servers, inputs: [{ id: "a" }, { id: "a" }, { type: "x" }, 1] })).toEqual([
      "inputs.1",
      "inputs.2",
      "inputs.3",
    ]);
  });

  it("and says why, in words of the entry", () => {
    const reasonOf = (file: object): string => {
      const result = imported(JSON.stringify(file));
      return result.kind === "refused" ? (result.refusals[0]?.reason ?? "") : "(accepted)";
    };
    expect(reasonOf(stdio({ headers: {} }))).toContain("over HTTP");
    expect(reasonOf(http({ args: [] }))).toContain("program");
    expect(reasonOf(stdio({ envFile: ".env" }))).toContain("not known");
    expect(reasonOf(http({ headers: { "X-Token": "${A:-b}" } }))).toContain("default");
    expect(reasonOf(http({ url: "http://docs.example/" }))).toContain("allowInsecureHttp");
  });

  it("variables by their bare name in a servers file, whose program would not replace them", () => {
    const file = { servers: { files: { command: "run", env: { A: "${B}" } } } };
    expect(refusedAt(file)).toEqual(["servers.files.env.A"]);
  });

  it("more than it may hold, and says which bound", () => {
    const many = (count: number) => {
      const names = Array.from({ length: count }, (_, i) => [`s${String(i)}`, { command: "run" }]);
      return { mcpServers: Object.fromEntries(names) };
    };
    expect(accepted(many(256)).servers).toHaveLength(256);
    expect(refusedAt(many(257))).toEqual([""]);
    const padding = (size: number) => `{"mcpServers": {}}${" ".repeat(size - 18)}`;
    expect(accepted(padding(1_048_576)).servers).toEqual([]);
    expect(refusedAt(padding(1_048_577))).toEqual([""]);
    const credential = (size: number) => http({ headers: { "X-Token": "x".repeat(size) } });
    expect(accepted(credential(16_384)).secrets).toHaveLength(1);
    expect(refusedAt(credential(16_385))).toEqual(["mcpServers.docs.headers.X-Token"]);
    expect(refusedAt(http({ url: `https://${"x".repeat(16_384)}@docs.example/` }))).toEqual(["mcpServers.docs.url"]);
    const deep = (depth: number) => `{"mcpServers": {}, "x": ${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(accepted(deep(63)).servers).toEqual([]);
    expect(refusedAt(deep(64))).toEqual([""]);
    expect(refusedAt("[".repeat(1_000_000))).toEqual([""]);
    expect(refusedAt(`"${"[".repeat(100)}"`)).toEqual([""]);
    expect(accepted(`{"mcpServers": {}, "x": "${"[".repeat(100)}"} // ${"{".repeat(100)}`).servers).toEqual([]);
    const faults = imported(JSON.stringify({ mcpServers: Object.fromEntries(entriesOf(200, {})) }));
    expect(faults).toMatchObject({ kind: "refused", refusalCount: 200 });
    expect(faults).toHaveProperty("refusals.length", 100);
  });

  it("says where a text breaks off, by line and column", () => {
    const result = imported('{\n  "mcpServers": {\n    "a" 1\n  }\n}');
    expect(result).toMatchObject({ refusals: [{ reason: expect.stringContaining("line 3, column 9") }] });
  });

  it("options that it doesn't know", async () => {
    const wrong = [
      { allowHttp: true },
      { allowInsecureHttp: 1 },
      { slugs: { a: "b" } },
      { taken: "docs" },
      { taken: 5 },
      { taken: null },
    ];
    for (const each of wrong) {
      const [option] = Object.keys(each);
      const refused = { code: "invalid_options", details: { option } };
      await expect(importServers("{}", Object(each))).rejects.toMatchObject(refused);
    }
    await expect(importServers('{"mcpServers":{}}')).resolves.toMatchObject({ kind: "accepted", servers: [] });
  });
});

describe("H-4: keys of imported servers", () => {
  it("are refused when a connector has them, or another entry", () => {
    expect(refusedAt(stdio({}), { taken: ["docs", "files"] })).toEqual(["mcpServers.files"]);
    const twice = { mcpServers: { a: { command: "x" } }, servers: { a: { command: "y" } } };
    expect(refusedAt(twice)).toEqual(["servers.a"]);
    expect(
      refusedAt({ mcpServers: { a: { command: "x" }, b: { command: "y" } } }, { slugs: new Map([["b", "a"]]) }),
    ).toEqual(["mcpServers.b"]);
  });

  it("can be chosen by the name in the file", () => {
    const slugs = new Map([["Mein Server!", "mine"]]);
    const file = { mcpServers: { "Mein Server!": { command: "run", env: { TOKEN: "t" } } } };
    expect(program(accepted(file, { slugs }))).toMatchObject({
      key: "mine",
      displayName: "Mein Server!",
      env: { TOKEN: { secret: "mine/env/TOKEN" } },
    });
    expect(refusedAt(file, { slugs: new Map([["Mein Server!", "Mine"]]) })).toEqual(["mcpServers.Mein Server!"]);
  });

  it("are taken from names that objects have by nature", () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    let mcpServers: object = {};
    for (const name of names) mcpServers = withMember(mcpServers, name, { command: "run" });
    const { servers } = accepted({ mcpServers });
    expect(servers.map(({ member }) => member)).toEqual(names.map((name) => `mcpServers.${name}`));
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("H-3: whatever is imported", () => {
  const name = fc.constantFrom("__proto__", "constructor", "a", "A", "b c", "查询", "", "10");
  const text = fc.constantFrom(
    "run",
    "https://a.example/",
    "https://u:p@a.example",
    "${A}",
    "${input:i}",
    "$B",
    "http",
    "",
  );
  const json = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }));
  const table = (key: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>) =>
    fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => {
      let made: object = {};
      for (const [each, member] of new Map(entries)) made = withMember(made, each, member);
      return made;
    });
  const members = fc.constantFrom("command", "args", "env", "cwd", "url", "type", "headers", "disabled", "__proto__");
  const entry = fc.oneof(
    fc.record({ command: fc.constant("run"), env: table(name, text) }, { requiredKeys: ["command"] }),
    fc.record({ url: text, headers: table(fc.constantFrom("X-Key", "X-A", "Host"), text) }, { requiredKeys: ["url"] }),
    table(members, json),
  );
  const file = fc.oneof(
    { arbitrary: table(fc.constantFrom("mcpServers", "servers"), table(name, entry)), weight: 9 },
    { arbitrary: table(fc.constantFrom("mcpServers", "servers", "inputs", "mcp"), json), weight: 1 },
  );

  it("is refused with reasons, or gives definitions that hold, whose secrets are all there", () => {
    const counts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(file, (value) => {
        const result = imported(JSON.stringify(value));
        counts[result.kind] += 1;
        expect(Object.keys(Object.prototype)).toEqual([]);
        if (result.kind === "refused") {
          expect(result.refusals.length).toBeGreaterThan(0);
          return;
        }
        const known = new Set([...result.secrets, ...result.missing].map((each) => each.name));
        const used = [...JSON.stringify(result.servers).matchAll(/"secret":"([^"]*)"/g)].map(([, each]) => each);
        expect(new Set(used)).toEqual(known);
        for (const server of result.servers) {
          if (server.kind === "stdio") expect(parseStdioConnector(server.connector)).toEqual(server.connector);
          else expect(parseRegistrationRequest(server.request)).toEqual(server.request);
        }
      }),
      { seed: 5, numRuns: 600 },
    );
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(50);
  });

  it("is read or refused when it is no JSON at all", () => {
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"mcpServers"',
      ":",
      ",",
      "//\n",
      "/*",
      "*/",
      '"a"',
      "1",
      "'",
      "\\",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 24 }), (text_) => {
        expect(["accepted", "refused"]).toContain(imported(text_.join("")).kind);
      }),
      { seed: 6, numRuns: 400 },
    );
  });
});

function withMembers(base: object, members: object): object {
  return Object.entries(members).reduce((made, [name, value]) => withMember(made, name, value), base);
}

function entriesOf(count: number, value: unknown): readonly (readonly [string, unknown])[] {
  return Array.from({ length: count }, (_, i) => [`s${String(i)}`, value] as const);
}
