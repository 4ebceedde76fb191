import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createInjectiveNaming } from "../../../../src/connector-host/naming/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";

const policy = createInjectiveNaming();
const MARKED = /-x[0-9a-v]{12}$/;

function named(key: string, native: string, naming = policy): string {
  const name = naming.exposedName(key, native);
  if (name === undefined) throw new Error(`no name for ${JSON.stringify([key, native])}`);
  return name;
}

describe("H-17: readable names stay as they are", () => {
  it.each([
    ["github", "search_issues", "github_search_issues"],
    ["a", "b_c", "a_b_c"],
    ["tencent-docs", "Read-Item", "tencent-docs_Read-Item"],
    ["x".repeat(24), "y".repeat(23), `${"x".repeat(24)}_${"y".repeat(23)}`],
    ["git", "_private_", "git__private_"],
    ["git", "constructor", "git_constructor"],
    ["git", "__proto__", "git___proto__"],
  ])("%s and %s", (key, native, expected) => {
    expect(named(key, native)).toBe(expected);
    expect(policy.parse(expected)).toEqual({ namespace: key, rest: native });
  });
});

describe("H-17: other names become a stem and a mark", () => {
  it.each([
    ["a_b", "a-b"],
    ["a.b", "a-b"],
    ["1password", "c1password"],
    ["_", "c"],
    ["", "c"],
    ["钉钉", "c"],
    ["x".repeat(25), "x".repeat(10)],
    ["github-enterprise.eu", "github-ent"],
    ["abcdefghi.j", "abcdefghi-"],
    ["ends-x0123456789av", "ends-x0123"],
  ])("the namespace of %j begins with %j", (key, stem) => {
    const namespace = policy.namespace(key);
    expect(namespace.slice(0, stem.length)).toBe(stem);
    expect(namespace.slice(stem.length)).toMatch(/^-x[0-9a-v]{12}$/);
    expect(namespace).toMatch(/^[a-z][a-z0-9-]{0,23}$/);
  });

  it.each([
    ["Read:Item", "Read_Item"],
    ["读取", "tool"],
    ["..", "tool"],
    [" a  b ", "a_b"],
    ["list-x0123456789av", "list-x0123456789av"],
    ["y".repeat(42), "y".repeat(27)],
  ])("the tool %j begins with %j", (native, stem) => {
    const rest = named("github", native).slice("github_".length);
    expect(rest.slice(0, stem.length)).toBe(stem);
    expect(rest.slice(stem.length)).toMatch(/^-x[0-9a-v]{12}$/);
  });

  it("the marks are pinned: agents know tools by them", () => {
    expect(policy.namespace("a_b")).toBe(`a-b-x${sixtyBits("key", "a_b")}`);
    expect(named("git", "a:b")).toBe(`git_a_b-x${sixtyBits("tool", "a:b")}`);
    expect(policy.namespace("a_b")).toBe("a-b-xbhq71i6chg7v");
    expect(named("git", "a:b")).toBe("git_a_b-xgd0ntja53n7c");
  });

  it("keys and tools of the same text have different marks", () => {
    const text = "a.b";
    expect(MARKED.exec(policy.namespace(text))?.[0]).not.toBe(MARKED.exec(named("git", text))?.[0]);
  });
});

describe("H-17: what has no name", () => {
  it.each(["", "\ud800", "a\udfff", "\udc00\ud800"])("the tool %j", (native) => {
    expect(policy.exposedName("github", native)).toBeUndefined();
  });

  it("an ill-formed key is a caller's fault", () => {
    expect(code(() => policy.namespace("\ud800"))).toBe("invalid_argument");
  });

  it.each([
    "",
    "github",
    "_tool",
    "github_",
    "GitHub_x",
    "1git_x",
    "git.hub_x",
    `${"x".repeat(25)}_y`,
    "git_ü",
    "git_x y",
  ])("%j is no exposed name", (name) => {
    expect(policy.parse(name)).toBeUndefined();
  });

  it("nor is one that is too long", () => {
    expect(policy.parse(`git_${"x".repeat(44)}`)).toBeDefined();
    expect(policy.parse(`git_${"x".repeat(45)}`)).toBeUndefined();
  });
});

describe("H-17: limits", () => {
  it.each([
    [{ maxNameLength: 55 }],
    [{ reservedPrefixLength: 25 }],
    [{ maxNameLength: 39, reservedPrefixLength: 0 }],
    [{ maxNameLength: Infinity, reservedPrefixLength: Infinity }],
    [{ maxNameLength: 0 }],
    [{ reservedPrefixLength: -1 }],
    [{ maxNameLength: 1.5 }],
    [{ maxNameLenght: 64 }],
  ])("%j is refused", (options: object) => {
    expect(code(() => createInjectiveNaming(options))).toBe("invalid_options");
  });

  it("the smallest leave one readable character under the longest namespace", () => {
    const tight = createInjectiveNaming({ maxNameLength: 40, reservedPrefixLength: 0 });
    const name = named("x".repeat(24), "a b c", tight);
    expect(name).toHaveLength(40);
    expect(name).toMatch(/^x{24}_a-x[0-9a-v]{12}$/);
    expect(tight.parse(name)?.namespace).toBe("x".repeat(24));
  });
});

/** Keys and names that are likely to meet: short words of few characters, and marks of their own making. */
const HOSTILE = ["a", "b", "_", "-", ".", ":", " ", "x", "X", "0", "é", "-x0123456789av", "a_b", "__", "/", "💥"];
const hostileText = fc.array(fc.constantFrom(...HOSTILE), { maxLength: 5 }).map((parts) => parts.join(""));
const hostilePair = fc.tuple(
  fc.oneof(hostileText, fc.string({ unit: "grapheme", maxLength: 40 })),
  fc.oneof(hostileText, fc.string({ unit: "grapheme", maxLength: 60 })).filter((native) => native !== ""),
);

describe("H-17: injective", () => {
  it("over hostile pairs, and pairs made of the names of others", () => {
    const seen = new Map<string, string>();
    const claim = (key: string, native: string): string => {
      const name = named(key, native);
      const identity = JSON.stringify([key, native]);
      expect(seen.get(name) ?? identity).toBe(identity);
      seen.set(name, identity);
      return name;
    };
    for (const [key, native] of fc.sample(hostilePair, { seed: 17, numRuns: 2_000 })) {
      const name = claim(key, native);
      const split = policy.parse(name);
      if (split === undefined) throw new Error(`${name} can't be split`);
      claim(split.namespace, split.rest);
      claim(split.namespace, native);
      claim(key, name);
    }
    expect(seen.size).toBeGreaterThan(5_000);
  });

  it("within the length, with the first _ at the end of the namespace, for any limits", () => {
    const limits = fc.record({
      maxNameLength: fc.integer({ min: 56, max: 128 }),
      reservedPrefixLength: fc.integer({ min: 0, max: 16 }),
    });
    fc.assert(
      fc.property(hostilePair, limits, ([key, native], options) => {
        const naming = createInjectiveNaming(options);
        const name = named(key, native, naming);
        expect(name.length).toBeLessThanOrEqual(options.maxNameLength - options.reservedPrefixLength);
        expect(name).toMatch(/^[a-z][a-z0-9-]{0,23}_[A-Za-z0-9_-]+$/);
        const namespace = naming.namespace(key);
        expect(naming.parse(name)).toEqual({ namespace, rest: name.slice(namespace.length + 1) });
        expect(named(key, native, createInjectiveNaming(options))).toBe(name);
      }),
      { seed: 18, numRuns: 500 },
    );
  });
});

/** The first 60 bits of the hash, digit by digit: another way to the same text. */
function sixtyBits(domain: string, text: string): string {
  const hex = createHash("sha256").update(`remote-connector/name/${domain}\0${text}`).digest("hex");
  const bits = Array.from(hex.slice(0, 15), (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join(
    "",
  );
  const digits = bits.match(/.{5}/g) ?? [];
  return digits.map((five) => "0123456789abcdefghijklmnopqrstuv".charAt(Number.parseInt(five, 2))).join("");
}

function code(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return isRemoteConnectorError(error) ? error.code : undefined;
  }
  return undefined;
}
