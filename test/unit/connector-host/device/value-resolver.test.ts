import { describe, expect, it } from "vitest";
import { ValueResolver, type ValueSources } from "../../../../src/connector-host/device/value-resolver.js";
import type { ConfiguredValue } from "../../../../src/connector-host/registration/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";

const resolver = (signal = new AbortController().signal): ValueResolver => {
  const sources: ValueSources = {
    secrets: {
      read: (name) => {
        if (name === "locked") throw new Error("the keychain is locked");
        return new Map<string, string | Promise<string>>([
          ["a", "s3cret"],
          ["b", Promise.resolve("other")],
          ["never", new Promise<string>(() => undefined)],
          ["empty", ""],
          ["odd", "s3cret\0"],
        ]).get(name);
      },
    },
    environment: { read: (name) => (name === "REGION" ? "north" : undefined) },
  };
  return new ValueResolver("docs", sources, signal);
};

/** What a value's resolution fails with. */
async function refusal(value: ConfiguredValue): Promise<unknown> {
  try {
    return await resolver().text("headers.X", value);
  } catch (error) {
    if (!isRemoteConnectorError(error, "unresolved_reference")) throw error;
    expect(JSON.stringify([error, error.message])).not.toContain("s3cret");
    const { source, name, reason, member, connectorKey } = error.details;
    return [error.delivery, connectorKey, member, source, name, reason];
  }
}

describe("ValueResolver", () => {
  it.each([
    ["a text", "$HOME", "$HOME"],
    ["a secret", { secret: "a" }, "s3cret"],
    ["one that is fetched", ["Bearer ", { secret: "b" }], "Bearer other"],
    ["one that is empty", [{ secret: "empty" }, "x"], "x"],
    ["a variable", { env: "REGION", default: "south" }, "north"],
    ["one that is not set", ["in ", { env: "NOWHERE", default: "the south" }], "in the south"],
  ] as const)("H-8: %s", async (_name, value, text) => {
    expect(await resolver().text("headers.X", value)).toBe(text);
  });

  it("H-8: what can't be had is named, and its value never", async () => {
    const of = (source: string, name: string, reason: string): unknown => [
      "not_sent",
      "docs",
      "headers.X",
      source,
      name,
      reason,
    ];
    expect(await refusal(["a", { secret: "none" }])).toEqual(of("secret", "none", "missing"));
    expect(await refusal({ env: "NOWHERE" })).toEqual(of("environment", "NOWHERE", "missing"));
    expect(await refusal({ secret: "locked" })).toEqual(of("secret", "locked", "unreadable"));
    expect(await refusal({ secret: "odd" })).toEqual(of("secret", "odd", "unusable"));
  });

  it("H-8: variables that are taken away stay so, under any name, and secrets are told for redaction", async () => {
    const values = resolver();
    const names: Record<string, ConfiguredValue | null> = Object.create(null);
    names["__proto__"] = { secret: "a" };
    names["GONE"] = null;
    const texts = await values.table("env", names);
    expect(Object.entries(texts)).toEqual([
      ["__proto__", "s3cret"],
      ["GONE", undefined],
    ]);
    await values.text("args.0", ["--region=", { env: "REGION" }, { secret: "empty" }]);
    expect(values.secrets).toEqual(["s3cret"]);
  });

  it("H-8: a source that takes too long is not waited for", async () => {
    const ended = new AbortController();
    const late = resolver(ended.signal).text("headers.X", { secret: "never" });
    const reason = new Error("it takes too long");
    ended.abort(reason);
    await expect(late).rejects.toBe(reason);
    await expect(resolver(ended.signal).text("headers.X", { secret: "never" })).rejects.toBe(reason);
  });
});
