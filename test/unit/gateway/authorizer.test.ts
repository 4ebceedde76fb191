import { describe, expect, it } from "vitest";
import type { ChangeOutcome } from "../../../src/gateway/index.js";
import { Authorizer } from "../../../src/gateway/authorizing/authorizer.js";
import type { Credential } from "../../../src/gateway/authorizing/credential.js";
import type { SecretAuthorizing } from "../../../src/gateway/options.js";
import { resolveGatewayOptions } from "../../../src/gateway/resolve-options.js";
import { FakeClock } from "../../support/fake-clock.js";

interface Stage {
  readonly authorizer: Authorizer;
  /** Begins a session for `ada`, and completes it with this secret. */
  complete(secret: Buffer): Promise<unknown>;
}

function setUp(
  grant: (accountId: string, connectorId: string, credential: Credential) => Promise<ChangeOutcome>,
  verify?: SecretAuthorizing["verify"],
): Stage {
  const config = resolveGatewayOptions({
    accounts: [{ accountId: "ada", sessions: [] }],
    connectors: [
      {
        connectorId: "c",
        connectorVersion: "1",
        authorization: "account",
        authorizing: { kind: "secret", verify },
        upstream: { kind: "http", url: "https://a.test/mcp" },
      },
    ],
    clock: new FakeClock(),
  });
  const authorizer = new Authorizer({ config, grant, redirectUri: () => "https://gateway.test/back" });
  const connector = config.connectors.get("c");
  return {
    authorizer,
    async complete(secret) {
      if (connector === undefined) throw new Error("There is no connector.");
      const request = {
        accountId: "ada",
        connectorId: "c",
        connectorVersion: "1",
        clientRequestId: "request",
        replacesActive: false,
      };
      const session = await authorizer.begin(connector, request);
      if (!("sessionId" in session)) return session;
      const done = await authorizer.complete("ada", session.sessionId, secret);
      return "sessionId" in done ? done.status : done;
    },
  };
}

const connection = { state: "connected", connectionId: "one", connectionVersion: 1n, others: [] } as const;
const key = (): Buffer => Buffer.from("key");
const wiped = Buffer.alloc(3);

describe("Authorizer", () => {
  it("C-5: hands the secret to who makes the connection, and wipes it no more", async () => {
    const given: Credential[] = [];
    const stage = setUp((_accountId, _connectorId, credential) => {
      given.push(credential);
      return Promise.resolve({ revision: 2n, changed: true, connection });
    });
    expect(await stage.complete(key())).toBe("SUCCEEDED");
    expect(given).toEqual([{ secret: key(), refreshToken: undefined, renewAtMs: undefined }]);
  });

  it.each<[string, SecretAuthorizing["verify"], boolean]>([
    ["the provider does not take it", () => false, true],
    ["the provider can't be asked", () => Promise.reject(new Error("away")), true],
    ["no connection could be made", undefined, false],
  ])("C-5: wipes the secret when %s", async (_what, verify, isGranted) => {
    const outcome = { revision: 2n, changed: true, connection };
    const grant = (): Promise<ChangeOutcome> =>
      isGranted ? Promise.resolve(outcome) : Promise.reject(new Error("full"));
    const secret = key();
    expect(await setUp(grant, verify).complete(secret)).toBe("FAILED");
    expect(secret).toEqual(wiped);
  });

  it("C-5: wipes what is given up", () => {
    const { authorizer } = setUp(() => Promise.reject(new Error("not asked for")));
    const [secret, refreshToken] = [key(), key()];
    authorizer.giveUp("c", { secret, refreshToken, renewAtMs: 1 });
    expect([secret, refreshToken]).toEqual([wiped, wiped]);
  });
});
