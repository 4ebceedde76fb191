import { describe, expect, it } from "vitest";
import { createChildEnvironment } from "../../../../src/transport/process/child-environment.js";

const inherited = {
  PATH: "/bin",
  HOME: "/var/a",
  LANG: "C",
  LC_ALL: "C",
  AWS_SECRET_ACCESS_KEY: "secret",
  NODE_OPTIONS: "--inspect",
  SHELL: "() { :; }",
  EMPTY: undefined,
};

function environment(init: Partial<Parameters<typeof createChildEnvironment>[0]>): Record<string, string> {
  return createChildEnvironment({
    inherited,
    configured: {},
    inheritEnvironment: false,
    platform: "linux",
    ...init,
  });
}

describe("createChildEnvironment", () => {
  it("L-12: hands on only what programs need, and no shell function", () => {
    expect(environment({})).toEqual({ PATH: "/bin", HOME: "/var/a", LANG: "C", LC_ALL: "C" });
  });

  it("L-12: lays the configured variables over it, keeping PATH", () => {
    expect(environment({ configured: { API_KEY: "k", HOME: "/data" } })).toEqual({
      PATH: "/bin",
      HOME: "/data",
      LANG: "C",
      LC_ALL: "C",
      API_KEY: "k",
    });
    expect(environment({ configured: { PATH: "/opt/bin" } })["PATH"]).toBe("/opt/bin");
  });

  it("L-12: takes a variable away that is configured as undefined", () => {
    expect(environment({ configured: { LANG: undefined, LC_ALL: undefined } })).toEqual({
      PATH: "/bin",
      HOME: "/var/a",
    });
  });

  it("L-12: keeps a configured empty value", () => {
    expect(environment({ configured: { LANG: "" } })["LANG"]).toBe("");
  });

  it("L-12: hands on everything only when told to", () => {
    const { EMPTY, ...all } = inherited;
    expect(environment({ inheritEnvironment: true })).toEqual(all);
    expect(EMPTY).toBeUndefined();
  });

  it("L-12: compares names without case on Windows, and gives each once", () => {
    const windows = environment({
      platform: "win32",
      inherited: { Path: "C:\\bin", SystemRoot: "C:\\Windows", Secret: "s" },
      configured: { PATH: "D:\\bin" },
    });
    expect(windows).toEqual({ PATH: "D:\\bin", SystemRoot: "C:\\Windows" });
  });
});
