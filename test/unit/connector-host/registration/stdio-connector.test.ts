import { describe, expect, it } from "vitest";
import {
  declareStdioConnector,
  parseStdioConnector,
  type RegistrationPolicy,
} from "../../../../src/connector-host/registration/index.js";
import { refusedMember } from "./refused-member.js";
import { withMember } from "./registration.fixture.js";

const defined = (changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  key: "files",
  displayName: "Files",
  command: "npx",
  args: ["-y", "files-server", ["--token=", { secret: "files.token" }], { env: "FILES_ROOT" }],
  env: { API_KEY: { secret: "files.key" }, LANG: "C", NODE_OPTIONS: null },
  cwd: "/srv/files",
  deadlines: { readyTimeoutMs: 60_000, listTimeoutMs: 1_000 },
  capabilities: ["tools", "elicitation"],
  state: "active",
  newTools: "ask",
  permissions: { read: "allow" },
  descriptions: {},
  ...changes,
});
const member = (value: unknown, policy?: RegistrationPolicy): string =>
  refusedMember(() => parseStdioConnector(value, policy));

describe("H-2: a managed program", () => {
  it("is read whole, and nothing in it is resolved", () => {
    const value = defined();
    const read = parseStdioConnector(value);
    expect(JSON.parse(JSON.stringify(read))).toEqual(value);
    for (const part of [read, read.args, read.args[2], read.env, read.env["API_KEY"], read.deadlines]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it("has deadlines of its own: 15 minutes to get ready, 30 seconds for a list", () => {
    const read = parseStdioConnector({ key: "files", displayName: "Files", command: "files" });
    expect(JSON.parse(JSON.stringify(read))).toEqual({
      key: "files",
      displayName: "Files",
      command: "files",
      args: [],
      env: {},
      deadlines: { readyTimeoutMs: 900_000, listTimeoutMs: 30_000 },
      capabilities: ["tools"],
      state: "paused",
      newTools: "off",
      permissions: {},
      descriptions: {},
    });
    expect(parseStdioConnector(defined({ deadlines: { listTimeoutMs: 5 } })).deadlines).toEqual({
      readyTimeoutMs: 900_000,
      listTimeoutMs: 5,
    });
  });

  it.each(["endpoint", "url", "shell", "envFile", "inheritEnvironment", "__proto__", "constructor"])(
    "that holds %s is refused by that name",
    (name) => {
      expect(member(withMember(defined({ key: 1 }), name, true))).toBe(name);
      expect(member(defined({ deadlines: withMember({}, name, 1) }))).toBe(`deadlines.${name}`);
    },
  );

  it.each<[string, unknown]>([
    ["key", defined({ key: "Files" })],
    ["key", defined({ key: undefined })],
    ["displayName", defined({ displayName: "" })],
    ["command", defined({ command: "" })],
    ["command", defined({ command: ["npx", "-y"] })],
    ["command", defined({ command: "./server.js" })],
    ["command", defined({ command: "bin/server" })],
    ["command", defined({ command: "~/bin/server" })],
    ["command", defined({ command: "bin\\server.exe" })],
    ["command", defined({ command: "a\nb" })],
    ["command", defined({ command: "a\0b" })],
    ["command", defined({ command: { env: "SHELL" } })],
    ["args", defined({ args: "-y" })],
    ["args", defined({ args: Array.from({ length: 257 }, () => "a") })],
    ["args.1", defined({ args: ["-y", 8080] })],
    ["args.0", defined({ args: ["a\0"] })],
    ["args.0", defined({ args: ["x".repeat(32_769)] })],
    ["env", defined({ env: ["A=B"] })],
    ["env.A=B", defined({ env: { "A=B": "c" } })],
    ["env.", defined({ env: { "": "c" } })],
    ["env.1", defined({ env: { 1: "c" } })],
    ["env.PORT", defined({ env: { PORT: 8080 } })],
    ["env.LANG", defined({ env: { LANG: "a\0b" } })],
    ["env", defined({ env: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`V${i}`, ""])) })],
    ["cwd", defined({ cwd: "server" })],
    ["cwd", defined({ cwd: "" })],
    ["cwd", defined({ cwd: null })],
    ["deadlines.readyTimeoutMs", defined({ deadlines: { readyTimeoutMs: 0 } })],
    ["deadlines.listTimeoutMs", defined({ deadlines: { listTimeoutMs: 1.5 } })],
    ["capabilities", defined({ capabilities: [] })],
    ["state", defined({ state: "starting" })],
    ["permissions.read", defined({ permissions: { read: true } })],
    ["", null],
    ["", "npx -y files"],
  ])("is refused at %s (%#)", (path, value) => {
    expect(member(value)).toBe(path);
  });

  it.each(["node", "/usr/bin/node", "C:\\node\\node.exe", "c:/node/node.exe", "\\\\host\\share\\run.exe", "a b"])(
    "can be started by %s",
    (command) => {
      expect(parseStdioConnector(defined({ command })).command).toBe(command);
    },
  );

  it("has variables of any name that is one", () => {
    const env = withMember({ constructor: "a", "ProgramFiles(x86)": "b" }, "__proto__", "c");
    const read = parseStdioConnector(defined({ env }));
    expect([read.env["constructor"], read.env["ProgramFiles(x86)"], read.env["__proto__"]]).toEqual(["a", "b", "c"]);
  });

  it("H-3: of the host's own configuration is active, and allows all that the file does not restrict", () => {
    const { state, newTools, permissions, ...rest } = defined();
    expect(declareStdioConnector(rest)).toMatchObject({ state: "active", newTools: "allow", permissions: {} });
    const declared = declareStdioConnector({ ...rest, newTools, permissions });
    expect(declared).toEqual(parseStdioConnector(defined()));
    expect(Object.isFrozen(declared)).toBe(true);
    expect(declareStdioConnector({ ...rest, state: "paused" })).toMatchObject({ state: "paused" });
    expect(declareStdioConnector(defined())).toMatchObject({ state, newTools, permissions });
    expect(refusedMember(() => declareStdioConnector({ ...rest, env: { TOKEN: "abc" } }))).toBe("env.TOKEN");
  });

  it("F-17 holds no credential in its environment, unless the host allows it", () => {
    for (const [name, value] of Object.entries({ API_KEY: "hunter2", gh_token: ["hun", "ter2"], DB_PASSWORD: "x" })) {
      const value_ = defined({ env: { [name]: value } });
      expect(member(value_)).toBe(`env.${name}`);
      expect(member(value_, { allowInlineSecrets: true })).toBe("(accepted)");
    }
    expect(member(defined({ env: { API_KEY: "", TOKEN: null, TOKEN_FILE: "/run/token" } }))).toBe("(accepted)");
  });
});
