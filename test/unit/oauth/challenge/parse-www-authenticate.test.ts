import { describe, expect, it } from "vitest";
import { parseWwwAuthenticate } from "../../../../src/oauth/challenge/index.js";

/** `scheme token68? [name=value]…` of each. */
function shown(...fields: string[]): readonly string[] {
  return parseWwwAuthenticate(fields).map(({ scheme, token68, parameters }) =>
    [
      scheme,
      ...(token68 === undefined ? [] : [`<${token68}>`]),
      ...parameters.map(([name, value]) => `${name}=${value}`),
    ].join(" | "),
  );
}

describe("parseWwwAuthenticate", () => {
  it.each<[string, string[], string[]]>([
    ["nothing", [], []],
    ["an empty field", [""], []],
    ["a scheme alone", ["Negotiate"], ["negotiate"]],
    ["a scheme and spaces", ["Negotiate   "], ["negotiate"]],
    ["token68", ["Negotiate YII+/a-._~=="], ["negotiate | <YII+/a-._~==>"]],
    ["token68 with one sign at its end", ["Negotiate abc="], ["negotiate | <abc=>"]],
    ["token68 before another challenge", ['NTLM TlRM , Bearer realm="x"'], ["ntlm | <TlRM>", "bearer | realm=x"]],
    ["a parameter that begins like token68", ["Basic realm=abc"], ["basic | realm=abc"]],
    ["quoted commas", ['Basic realm="a, b", charset="UTF-8"'], ["basic | realm=a, b | charset=UTF-8"]],
    ["escapes", [String.raw`Basic realm="say \"a\\b\", \x"`], [String.raw`basic | realm=say "a\b", x`]],
    ["any case", ["BEARER Realm=X"], ["bearer | realm=X"]],
    ["spaces and tabs around the sign", ['Bearer a =\t"1" ,b= 2,c \t=3'], ["bearer | a=1 | b=2 | c=3"]],
    ["duplicates, in order", ["Bearer a=1, A=2, a=1"], ["bearer | a=1 | a=2 | a=1"]],
    ["empty list elements", [', ,Bearer a=1,, ,b=2, ,Basic realm="x",'], ["bearer | a=1 | b=2", "basic | realm=x"]],
    ["schemes without anything", ["Negotiate, Kerberos, Bearer"], ["negotiate", "kerberos", "bearer"]],
    ["several fields", ['Basic realm="a"', "Bearer b=1"], ["basic | realm=a", "bearer | b=1"]],
    ["a challenge over several fields", ["Bearer a=1", "b=2, Basic c=3"], ["bearer | a=1 | b=2", "basic | c=3"]],
    ["an empty value", ['Bearer a="", b=, c=1'], ["bearer | a= | b= | c=1"]],
    [
      "a value without quotes that is no token",
      ["Bearer a=https://h/x?y=z, b=1"],
      ["bearer | a=https://h/x?y=z | b=1"],
    ],
    ["missing commas between parameters", ['Bearer a="1" b=2'], ["bearer | a=1 | b=2"]],
    ["missing commas between challenges", ['Basic a="1" Bearer b=2'], ["basic | a=1", "bearer | b=2"]],
    ["parameters of no scheme", ["a=1, Bearer b=2"], ["bearer | b=2"]],
    ["quotes without an end", ['Bearer a=1, b="2, c=3'], ["bearer | a=1"]],
    ["quotes without an end, and another field", ['Bearer a="1, b=2', "c=3"], ["bearer | c=3"]],
    ["an escape at the end", ['Bearer a=1, b="\\'], ["bearer | a=1"]],
    ["quotes that belong to nothing", ['Bearer "x, y=1", a=1'], ["bearer | a=1"]],
    ["quotes in a value without them", ['Bearer a=x"y, b=evil", c=1'], ["bearer | a=x | c=1"]],
    ["other characters", ["@@ Bearer \u{1f600} a=1 () b=2"], ["bearer | a=1 | b=2"]],
  ])("A-1: %s", (_what, fields, expected) => {
    expect(shown(...fields)).toEqual(expected);
  });

  it("A-1: reads no more than 64 Ki characters, over all fields", () => {
    const names = (...fields: string[]): readonly string[] =>
      parseWwwAuthenticate(fields).flatMap(({ parameters }) =>
        parameters.map(([name, { length }]) => `${name}:${length}`),
      );
    const fill = (rest: number): string => {
      const room = 64 * 1024 - 'Basic realm="",'.length - rest;
      return `Basic realm="${"x".repeat(room)}",`;
    };
    expect(names(`${fill(3)}a=12`)).toEqual([expect.stringMatching(/^realm:/), "a:1"]);
    expect(names(fill(3), "a=12")).toEqual([expect.stringMatching(/^realm:/), "a:1"]);
    expect(names(fill(0), "a=12")).toEqual([expect.stringMatching(/^realm:/)]);
    expect(names(fill(-5), "a=12")).toEqual([]);
  });

  it.each([
    ["quotes", '"'],
    ["signs", "="],
    ["spaces", " "],
    ["tokens", "a "],
    ["token68", "a/"],
    ["token68 after spaces", "a b/c "],
    ["names", "a ="],
    ["escapes", '"\\'],
    ["commas", ","],
  ])("A-1: many %s take no more time than as many letters", (_what, part) => {
    const text = `Bearer ${part.repeat(32 * 1024)}`;
    const started = process.cpuUsage();
    parseWwwAuthenticate([text]);
    const { user, system } = process.cpuUsage(started);
    // Far more than it takes, and far less than what grows with the square.
    expect(user + system).toBeLessThan(1_000_000);
  });
});
