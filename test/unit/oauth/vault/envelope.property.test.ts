import fc from "fast-check";
import { describe, it } from "vitest";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { createVaultKey } from "../../../../src/oauth/vault/index.js";

/** Any code units: halves of surrogate pairs and NUL too. */
const text = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd7ff, max: 0xe000 })), { maxLength: 60 })
  .map((units) => String.fromCharCode(...units));
const place = fc.record({ resource: text, name: text });
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });

function opened(run: () => string): string | undefined {
  try {
    return run();
  } catch (error) {
    if (isRemoteConnectorError(error, "oauth_invalid")) return undefined;
    throw error;
  }
}

describe("A-10: an envelope", () => {
  it("gives back whatever was sealed, at its place and at no other", () => {
    fc.assert(
      fc.property(text, place, place, bytes(32), bytes(12), (secret, at, elsewhere, own, nonce) => {
        const key = createVaultKey({ keys: [own], randomBytes: () => nonce });
        const envelope = key.seal(secret, at);
        const isSame = at.resource === elsewhere.resource && at.name === elsewhere.name;
        const there = opened(() => key.open(envelope, elsewhere));
        return key.open(envelope, at) === secret && there === (isSame ? secret : undefined);
      }),
    );
  });

  it("that is any other text opens as nothing", () => {
    const edit = fc.record({ at: fc.nat(), remove: fc.nat(3), insert: fc.string({ maxLength: 3 }) });
    fc.assert(
      fc.property(text, place, bytes(32), edit, (secret, at, own, { at: where, remove, insert }) => {
        const key = createVaultKey({ keys: [own] });
        const envelope = key.seal(secret, at);
        const start = where % (envelope.length + 1);
        const changed = envelope.slice(0, start) + insert + envelope.slice(start + remove);
        return opened(() => key.open(changed, at)) === (changed === envelope ? secret : undefined);
      }),
    );
  });

  it("of anybody's making opens as nothing", () => {
    const key = createVaultKey({ keys: [new Uint8Array(32)] });
    const body = fc
      .uint8Array({ maxLength: 80 })
      .map((each) => `rcv1.${key.id}.${Buffer.from(each).toString("base64url")}`);
    fc.assert(fc.property(fc.oneof(text, body), place, (any, at) => opened(() => key.open(any, at)) === undefined));
  });
});
