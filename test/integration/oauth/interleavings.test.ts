import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { ModernStreamableHTTPClient } from "../../../src/index.js";
import { memoryOAuthStore, type OAuth, type OAuthStore } from "../../../src/oauth/index.js";
import type { AuthorizationServerFault } from "../../../src/testing/index.js";
import type { Authorizer } from "../../../src/transport/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { type OAuthWorld, openWorld, startProgram } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

/** What happens, one after the other; but for `wait`, nobody waits for the end of what was begun before. */
type Step =
  | { readonly kind: "call"; readonly program: number; readonly tool: "read" | "write"; readonly times: number }
  | { readonly kind: "sign_out" | "sign_in"; readonly program: number }
  /** Access tokens are over, for the server alone; everything is revoked. */
  | { readonly kind: "expire" | "revoke" }
  | { readonly kind: "refuse"; readonly times: number }
  | { readonly kind: "fault"; readonly fault: AuthorizationServerFault }
  | { readonly kind: "consent"; readonly consent: "approve" | "deny" }
  /** A few turns of the event loop; until all is over, or beyond the end of all tokens. */
  | { readonly kind: "turns"; readonly count: number }
  | { readonly kind: "wait" | "hours" };

const anyProgram = fc.nat({ max: 1 });
const anyFault: fc.Arbitrary<AuthorizationServerFault> = fc.oneof(
  fc.record({ endpoint: fc.constantFrom("metadata", "register", "token"), kind: fc.constant("drop_connection") }),
  fc.record({ endpoint: fc.constantFrom("metadata", "register", "token"), kind: fc.constant("malformed") }),
  fc.record({
    endpoint: fc.constantFrom("metadata", "register", "token"),
    kind: fc.constant("status"),
    status: fc.constantFrom(429, 500, 503),
  }),
  fc.record({
    endpoint: fc.constantFrom("register", "token"),
    kind: fc.constant("error"),
    error: fc.constantFrom("invalid_client", "invalid_grant", "temporarily_unavailable"),
  }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("call"),
      program: anyProgram,
      tool: fc.constantFrom("read", "write"),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("sign_out", "sign_in"), program: anyProgram }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("expire", "expire", "revoke") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("refuse"), times: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fault"), fault: anyFault }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("consent"), consent: fc.constantFrom("approve", "deny") }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("turns"), count: fc.nat({ max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("wait", "hours") }) },
);
interface Story {
  readonly steps: readonly Step[];
  readonly delays: readonly number[];
  readonly rotates: boolean;
}

const anyStory: fc.Arbitrary<Story> = fc.record({
  steps: fc.array(anyStep, { minLength: 3, maxLength: 14, size: "max" }),
  /** Turns of the event loop that the store takes, one after the other. */
  delays: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 5 }),
  rotates: fc.boolean(),
});

/** All that may be seen of what happened. */
interface Seen {
  readonly ends: string[];
  readonly errors: unknown[];
  /** How often each operation was made again. */
  readonly again: Map<object, number>;
  readonly shown: unknown[];
}

/** How an operation may end while faults are about. */
const ENDS: ReadonlySet<string> = new Set([
  "read",
  "write",
  "signed in",
  "signed out",
  "cancelled",
  "connect_failed",
  "connection_broken",
  "oauth_discovery_failed",
  "oauth_invalid",
  "oauth_refused",
  "sign_in_required",
  "token_refused",
  "unexpected_answer",
]);

/** What a token, a code or a secret of the authorization server looks like. */
const SECRET = /\b(?:access|refresh|code|secret)-[\w-]{20,}/;

/** Every time that it is made again, something was done for an operation: at most three adoptions, one refresh, three authorizations. */
const MOST_AGAIN = 7;

class Run {
  readonly seen: Seen = { ends: [], errors: [], again: new Map(), shown: [] };
  readonly #world: OAuthWorld;
  readonly #clock = new FakeClock();
  readonly #sides: readonly { readonly oauth: OAuth; readonly client: ModernStreamableHTTPClient }[];
  readonly #open: Promise<unknown>[] = [];
  readonly #mine = new Opened();

  constructor(world: OAuthWorld, delays: readonly number[]) {
    this.#world = world;
    const store = slow(memoryOAuthStore(), delays);
    this.#sides = [0, 1].map(() => {
      const { events, oauth } = startProgram(this.#mine, world, { clock: this.#clock, store });
      this.seen.shown.push(events);
      const client = new ModernStreamableHTTPClient({
        endpoint: world.server.url,
        clientInfo: { name: "test", version: "1" },
        unknownTools: "call",
        authorize: counted(oauth.account(""), this.seen.again),
      });
      this.#mine.push(client);
      return { oauth, client };
    });
  }

  async take(step: Step): Promise<void> {
    const { issuer, server, time } = this.#world;
    switch (step.kind) {
      case "call":
        for (let times = 0; times < step.times; times += 1) this.#begin(this.call(step.program, step.tool));
        return;
      case "sign_out":
        this.#begin(this.#end(this.#oauth(step.program).signOut(server.url), "signed out"));
        return;
      case "sign_in":
        this.#begin(this.signIn(step.program));
        return;
      case "expire":
        for (const { kind, state, token } of issuer.tokens) {
          if (kind === "access" && state === "active") issuer.expireNow(token);
        }
        return;
      case "revoke":
        for (const { state, token } of issuer.tokens) if (state === "active") issuer.revoke(token);
        return;
      case "refuse":
        server.refuseNext(step.times);
        return;
      case "fault":
        issuer.addFault(step.fault);
        return;
      case "consent":
        issuer.consent = step.consent;
        return;
      case "turns":
        for (let turn = 0; turn < step.count; turn += 1) await turnOfLoop();
        return;
      case "wait":
        await this.wait();
        return;
      case "hours":
        // Whoever is at work then may find that its lease is over: that is another story.
        await this.wait();
        time.now += 7_200_000;
    }
  }

  call(program: number, name: string): Promise<string> {
    const { client } = this.#sides[program] ?? {};
    if (client === undefined) return Promise.resolve("nobody");
    return this.#end(client.callTool({ name, arguments: {} }), name);
  }

  signIn(program: number): Promise<string> {
    const signingIn = this.#oauth(program).signIn(this.#world.server.url);
    return this.#end(
      signingIn.then((account) => this.seen.shown.push(account)),
      "signed in",
    );
  }

  /** Until everything that was begun is over, over the pauses between attempts. */
  async wait(): Promise<void> {
    const state = { isOver: false };
    const over = Promise.all(this.#open.splice(0)).finally(() => (state.isOver = true));
    while (!state.isOver) {
      await settle();
      if (this.#clock.dueInMs <= 2_000) this.#clock.step(this.#clock.dueInMs);
    }
    await over;
  }

  /** Nothing goes wrong any more, and whoever asked in vain may ask again. */
  heal(): void {
    const { issuer, server } = this.#world;
    issuer.clearFaults();
    issuer.consent = "approve";
    server.refuseNext(0);
    this.#clock.step(30_000);
  }

  async healed(work: Promise<string>): Promise<string> {
    this.#begin(work);
    await this.wait();
    return work;
  }

  close(): Promise<void> {
    return this.#mine.close();
  }

  #oauth(program: number): OAuth {
    const side = this.#sides[program];
    if (side === undefined) throw new Error("There is no such program.");
    return side.oauth;
  }

  #begin(work: Promise<string>): void {
    this.#open.push(work.then((end) => this.seen.ends.push(end)));
  }

  async #end(work: Promise<unknown>, name: string): Promise<string> {
    try {
      await work;
      return name;
    } catch (error) {
      this.seen.errors.push(error);
      return isRemoteConnectorError(error) ? error.code : String(error);
    }
  }
}

/** Counts how often the requests of each operation are made again. */
function counted(inner: ReturnType<OAuth["account"]>, again: Map<object, number>): Authorizer {
  return {
    authorize: inner.authorize,
    onAnswered: inner.onAnswered,
    async onRefused(refusal) {
      const isAgain = (await inner.onRefused?.(refusal)) === true;
      const { operation } = refusal.request;
      if (isAgain) again.set(operation, (again.get(operation) ?? 0) + 1);
      return isAgain;
    },
  };
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** A store that takes so many turns of the event loop for what is asked of it. */
function slow({ credentials, leases }: OAuthStore, delays: readonly number[]): OAuthStore {
  let asked = 0;
  const later = async <T>(work: () => Promise<T>): Promise<T> => {
    asked += 1;
    for (let left = delays[asked % delays.length] ?? 0; left > 0; left -= 1) await turnOfLoop();
    const result = await work();
    if ((asked & 1) === 1) await turnOfLoop();
    return result;
  };
  return {
    credentials: {
      get: (key) => later(() => credentials.get(key)),
      list: (resource) => later(() => credentials.list(resource)),
      put: (put) => later(() => credentials.put(put)),
      remove: (key, expected) => later(() => credentials.remove(key, expected)),
    },
    leases: {
      acquire: (claim) => later(() => leases.acquire(claim)),
      renew: (claim) => later(() => leases.renew(claim)),
      release: (name, holder) => later(() => leases.release(name, holder)),
    },
  };
}

async function tell(world: OAuthWorld, { delays, rotates, steps }: Story): Promise<Seen> {
  const used = new Set<string>();
  const twice: string[] = [];
  world.issuer.change({
    rotatesRefreshTokens: rotates,
    // Requests that a fault was put on don't come here: those were of no effect.
    rewrite(answer, { parameters: { refresh_token: token } }) {
      if (token !== undefined && rotates && used.has(token)) twice.push(token);
      if (token !== undefined) used.add(token);
      return answer;
    },
  });
  const run = new Run(world, delays);
  try {
    for (const step of steps) await run.take(step);
    await run.wait();
    run.heal();
    // The registration may be one that the server does not know any more; whoever signs in gets another.
    const healed = [await run.healed(run.signIn(0))];
    for (const program of [0, 1]) {
      for (const tool of ["write", "read"]) healed.push(await run.healed(run.call(program, tool)));
    }
    expect(healed).toEqual(["signed in", "write", "read", "write", "read"]);
    expect(twice).toEqual([]);
  } finally {
    await run.close();
  }
  return run.seen;
}

describe("whatever happens in whatever order", () => {
  it("A-7, A-8: no refresh token is used twice, no operation goes on for ever, nothing secret is shown, all heals", async () => {
    const world = await openWorld(opened, {
      server: { challengeScopes: ["read"], requiredScopes: { "tools/call write": ["write"] } },
    });
    await fc.assert(
      fc.asyncProperty(anyStory, async (one) => {
        const { again, ends, errors, shown } = await tell(world, one);
        expect(ends.filter((end) => !ENDS.has(end))).toEqual([]);
        expect(Math.max(0, ...again.values())).toBeLessThanOrEqual(MOST_AGAIN);
        const text = inspect({ errors, shown }, { depth: 12, maxStringLength: Infinity, maxArrayLength: Infinity });
        expect(text).not.toMatch(SECRET);
      }),
      { numRuns: 12 },
    );
  });
});
