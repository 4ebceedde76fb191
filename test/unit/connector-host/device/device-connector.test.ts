import { describe, expect, it } from "vitest";
import { programConnector, registeredConnector } from "../../../../src/connector-host/device/index.js";
import { declareRegistration, declareStdioConnector } from "../../../../src/connector-host/registration/index.js";

const ID = "0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d11";
const DOCS = { slug: "docs", displayName: "Docs", settings: { endpoint: "https://docs.example/mcp" } };
const FILES = { key: "files", displayName: "Files", command: "files-server" };

const docs = (more: object = {}, id = ID): string =>
  registeredConnector(declareRegistration({ ...DOCS, ...more }, id)).digest;
const files = (more: object = {}): string => programConnector(declareStdioConnector({ ...FILES, ...more })).digest;

describe("the digest of a connector of the device", () => {
  it("H-2 H-3: is the same for everything that its server is not reached by", () => {
    const rules = {
      displayName: "Other",
      newTools: "off",
      permissions: { a: "ask" },
      descriptions: { a: { description: "A" } },
    };
    expect(docs(rules)).toBe(docs());
    expect(files(rules)).toBe(files());
    expect(docs()).toMatch(/^[0-9a-f]{64}$/);
  });

  it("H-2 H-3: is another one for everything that its client or its process is made by", () => {
    const all = [
      docs(),
      docs({}, ID.replace("0b", "0c")),
      docs({ settings: { endpoint: "https://docs.example/other" } }),
      docs({ deadlines: { totalTimeoutMs: 1 } }),
      docs({ capabilities: ["tools", "prompts"] }),
      files(),
      files({ command: "other" }),
      files({ args: ["a"] }),
      files({ args: [{ env: "a" }] }),
      files({ env: { A: "b" } }),
      files({ env: { A: null } }),
      files({ cwd: "/" }),
      files({ deadlines: { listTimeoutMs: 1 } }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
