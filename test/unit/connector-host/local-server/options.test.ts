import { describe, expect, it } from "vitest";
import type { LocalServerOptions, ToolDirectory } from "../../../../src/connector-host/local-server/index.js";
import { resolveLocalServerOptions } from "../../../../src/connector-host/local-server/options.js";

const directory: ToolDirectory = {
  list: () => Promise.reject(new Error("not asked")),
  resolve: () => Promise.reject(new Error("not asked")),
  call: () => Promise.reject(new Error("not asked")),
};

describe("the options of the local server", () => {
  it("H-16, H-20: have the published defaults", () => {
    expect(resolveLocalServerOptions({ directory })).toMatchObject({
      port: 0,
      serverInfo: { name: "connector" },
      deliveryKey: "sh.tutti/delivery",
      omittedKey: "sh.tutti/omitted",
      allowedOrigins: [],
      maxBodyBytes: 4 * 1024 * 1024,
      maxArgumentsBytes: 256 * 1024,
      maxBindings: 256,
      bindingIdleMs: 24 * 60 * 60 * 1000,
      maxSubscriptions: 32,
      headersTimeoutMs: 5_000,
      callTimeoutMs: 3_600_000,
      listTimeoutMs: 120_000,
    });
  });

  it("draw the keys from the product's prefix", () => {
    const config = resolveLocalServerOptions({ directory, productPrefix: "com.acme" });
    expect([config.deliveryKey, config.omittedKey]).toEqual(["com.acme/delivery", "com.acme/omitted"]);
  });

  it.each<[object, string]>([
    [{ maxBodyByte: 1 }, "maxBodyByte"],
    [{ maxBodyBytes: -1 }, "maxBodyBytes"],
    [{ callTimeoutMs: 0 }, "callTimeoutMs"],
    [{ productPrefix: "com.acme/" }, "productPrefix"],
    [{ productPrefix: "" }, "productPrefix"],
    [{ productPrefix: "io.modelcontextprotocol" }, "productPrefix"],
  ])("refuse %j", (wrong, option) => {
    const options: LocalServerOptions = { directory, ...wrong };
    expect(() => resolveLocalServerOptions(options)).toThrowError(
      expect.objectContaining({ code: "invalid_options", details: expect.objectContaining({ option }) as unknown }),
    );
  });
});
