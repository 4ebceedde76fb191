import { describe, expect, it } from "vitest";
import type { ChangeOutcome } from "../../../src/gateway/index.js";
import { Authorizer } from "../../../src/gateway/authorizing/authorizer.js";
import type { Credential } from "../../../src/gateway/authorizing/credential.js";
import type { SecretAuthorizing } from "../../../src/gateway/options.js";
import { resolveGatewayOptions } from "../../../src/gateway/resolve-options.js";
import { FakeClock } from "../../support/fake-clock.js";

interface Stage {
  readonly authorizer: Authorizer;
  readonly clock: FakeClock;
  /** Begins a session for `ada`, and completes it with this secret. */
  complete(secret: Buffer): Promise<unknown>;
}

function setUp(
  grant: (accountId: string, connectorId: string, credential: Credential) => Promise<ChangeOutcome>,
  verify?: SecretAuthorizing["verify"],
): Stage {
  const clock = new FakeClock();
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
    clock,
  });
  const authorizer = new Authorizer({ config, grant, redirectUri: () => "https://gateway.test/back" });
  const connector = config.connectors.get("c");
  return {
    authorizer,
    clock,
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

  it("C-5: wipes a secret that no session takes", async () => {
    const stage = setUp(() => Promise.resolve({ revision: 2n, changed: true, connection }));
    const [unknown, unfit, late] = [key(), Buffer.from("a\nb"), key()];
    await stage.authorizer.complete("ada", "nothing", unknown);
    await stage.complete(unfit);
    expect(await stage.complete(key())).toBe("SUCCEEDED");
    expect(await stage.complete(late)).toBe("SUCCEEDED");
    expect([unknown, unfit, late]).toEqual([wiped, wiped, wiped]);
  });

  it("P-10: a provider that says nothing fails the session in time", async () => {
    const stage = setUp(
      () => Promise.reject(new Error("not asked for")),
      () => new Promise(() => undefined),
    );
    const secret = key();
    const done = stage.complete(secret);
    await stage.clock.advance(10_000);
    expect(await done).toBe("FAILED");
    expect(secret).toEqual(wiped);
    expect(stage.clock.pending).toBe(0);
  });

  it("C-5: connects nothing once it is closed, and waits for what is being connected", async () => {
    const granted: string[] = [];
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const stage = setUp(async () => {
      await finished;
      granted.push("one");
      return { revision: 2n, changed: true, connection };
    });
    const first = stage.complete(key());
    await stage.clock.advance(0);
    const closing = stage.authorizer.close().then(() => granted.push("closed"));
    finish();
    expect(await first).toBe("SUCCEEDED");
    await closing;
    expect(granted).toEqual(["one", "closed"]);

    let answer = (_isTaken: boolean): void => undefined;
    const slow = setUp(
      () => Promise.reject(new Error("not asked for")),
      () => new Promise((resolve) => (answer = resolve)),
    );
    const secret = key();
    const done = slow.complete(secret);
    await slow.clock.advance(0);
    await slow.authorizer.close();
    answer(true);
    expect(await done).toBe("FAILED");
    expect(secret).toEqual(wiped);
  });
});
