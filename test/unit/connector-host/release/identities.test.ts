import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assertHostVersion,
  canonicalJson,
  localConnectionId,
  parseRelease,
  releaseDigest,
} from "../../../../src/connector-host/release/index.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { publishedRelease } from "./release.fixture.js";

describe("H-1: the digest of a release", () => {
  it("is the SHA-256 of its canonical JSON, in lower hex", () => {
    const canonical =
      '{"authorization":{"kind":"api_key","profile":"tencent-docs.personal-token"},"connectorId":"tencent-docs",' +
      '"display":{"name":"Tencent Docs"},"minimumHostVersion":"0.0.0","requiredCapabilities":["tools"],' +
      `"runtime":{"bindingContractHash":"sha256:${"ab".repeat(32)}","bindingRef":"tencent-docs.primary",` +
      '"contractVersion":1,"kind":"remote_mcp","protocolVersion":"2026-07-28"},"version":"1.0.0"}';
    const expected = createHash("sha256").update(canonical).digest("hex");
    expect(releaseDigest(parseRelease(publishedRelease()))).toBe(expected);
  });

  it("does not depend on the order of members, nor on members that are absent in another way", () => {
    const release = publishedRelease();
    const reversed = Object.fromEntries(Object.entries(release).toReversed());
    const digest = releaseDigest(parseRelease(release));
    expect(releaseDigest(parseRelease(reversed))).toBe(digest);
    expect(releaseDigest(parseRelease({ ...release, routing: undefined }))).toBe(digest);
  });

  it("changes with any member", () => {
    const digests = [{}, { version: "1.0.1" }, { display: { name: "Docs" } }, { authorization: { kind: "none" } }].map(
      (changes) => releaseDigest(parseRelease(publishedRelease(changes))),
    );
    expect(new Set(digests).size).toBe(digests.length);
  });
});

describe("canonical JSON", () => {
  it("sorts members by UTF-16 code units and writes the rest as JSON.stringify does", () => {
    expect(canonicalJson({ "\u{1F600}": 1, "\uFB33": 2, b: [true, null, { z: 1, a: "\n" }], a: 1e21 })).toBe(
      '{"a":1e+21,"b":[true,null,{"a":"\\n","z":1}],"\u{1F600}":1,"\uFB33":2}',
    );
  });

  it("is a fixed point that says the same, however deep", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
      { seed: 11, numRuns: 200 },
    );
  });
});

describe("H-11: the local connection id", () => {
  it("is account- and the first 16 bytes of a SHA-256 over account, NUL and key", () => {
    const digest = createHash("sha256").update("acc-1\0github").digest("hex");
    expect(localConnectionId("acc-1", "github")).toBe(`account-${digest.slice(0, 32)}`);
  });

  it("differs between accounts, connectors and the ways to cut them", () => {
    const ids = [
      localConnectionId("a", "b"),
      localConnectionId("a", "c"),
      localConnectionId("b", "b"),
      localConnectionId("a\0", "b"),
      localConnectionId("ab", "b"),
      localConnectionId("", "ab"),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("H-1: the minimum host version", () => {
  it.each([
    ["0.0.0", "0.0.0"],
    ["1.2.3", "1.2.3+build.9"],
    ["1.9.0", "1.10.0"],
    ["1.0.0-rc.1", "1.0.0"],
    ["1.0.0-alpha", "1.0.0-alpha.1"],
    ["1.0.0-alpha.1", "1.0.0-alpha.beta"],
    ["1.0.0-rc.2", "1.0.0-rc.11"],
    ["1.0.0-2", "1.0.0-a"],
    ["1.0.0-a-b", "1.0.0-a-c"],
  ])("%s lets a host of %s in", (minimumHostVersion, host) => {
    const release = parseRelease(publishedRelease({ minimumHostVersion }));
    expect(() => assertHostVersion(release, host)).not.toThrow();
    if (host.split("+")[0] === minimumHostVersion) return;
    const reverse = parseRelease(publishedRelease({ minimumHostVersion: host }));
    expect(refusal(() => assertHostVersion(reverse, minimumHostVersion))).toBe("minimumHostVersion");
  });
});

function refusal(run: () => void): string | undefined {
  try {
    run();
  } catch (error) {
    if (isRemoteConnectorError(error, "invalid_release")) return error.details.member;
    throw error;
  }
  return undefined;
}
