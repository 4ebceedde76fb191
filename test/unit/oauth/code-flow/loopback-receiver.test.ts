import { describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { loopbackReceiver, type LoopbackReceiverOptions, systemOpener } from "../../../../src/oauth/code-flow/index.js";

function refused(make: () => unknown): unknown {
  try {
    make();
  } catch (error) {
    return isRemoteConnectorError(error, "invalid_options") ? error.details.option : error;
  }
  return "nothing";
}

describe("A-5: the options of the receiver", () => {
  it.each<[LoopbackReceiverOptions, readonly string[]]>([
    [{}, []],
    [{ port: 0, host: "localhost" }, []],
    [{ port: 4321 }, ["http://127.0.0.1:4321/callback"]],
    [{ port: 4321, host: "localhost", path: "/" }, ["http://localhost:4321/"]],
    [{ port: 4321, host: "::1", path: "/a/b%20c" }, ["http://[::1]:4321/a/b%20c"]],
    [{ port: 80 }, ["http://127.0.0.1/callback"]],
  ])("%j: what a document can name is %j", (options, redirectUris) => {
    expect(loopbackReceiver(options).redirectUris).toEqual(redirectUris);
  });

  it.each([
    ["prot", { prot: 1 }],
    ["port", { port: -1 }],
    ["port", { port: 65_536 }],
    ["port", { port: 1.5 }],
    ["port", { port: "80" }],
    ["host", { host: "0.0.0.0" }],
    ["host", { host: "" }],
    ["path", { path: "callback" }],
    ["path", { path: "" }],
    ["path", { path: "/a?b" }],
    ["path", { path: "/a#b" }],
    ["path", { path: "/a/../b" }],
    ["path", { path: "/a b" }],
    ["path", { path: 1 }],
    ["html", { html: "<p>" }],
  ])("refuse %s of %j", (option, options) => {
    expect(refused(() => Reflect.apply(loopbackReceiver, undefined, [options]))).toBe(option);
  });

  it("of the opener are refused by name, too", () => {
    expect(refused(() => Reflect.apply(systemOpener, undefined, [{ shell: true }]))).toBe("shell");
    expect(refused(() => Reflect.apply(systemOpener, undefined, [{ spawn: "sh" }]))).toBe("spawn");
  });
});
