import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { ModernStreamableHTTPClient } from "../../../src/index.js";
import { memoryOAuthStore, type OAuth, type OAuthStore } from "../../../src/oauth/index.js";
import type { AuthorizationServerOptions } from "../../../src/testing/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import {
  call,
  type OAuthWorld,
  openClient,
  openWorld,
  startProgram,
  tokenRequests,
} from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";
import { FaultyFront, type Step, type WireFault } from "./faulty-front.js";

const opened = new Opened();
afterEach(opened.close);

/** A world whose every exchange goes through a front. */
interface FrontedWorld extends OAuthWorld {
  readonly front: FaultyFront;
  readonly url: string;
}

/** A program of it that knows nothing yet, and its client. */
interface Side {
  readonly world: FrontedWorld;
  readonly clock: FakeClock;
  readonly oauth: OAuth;
  readonly visits: readonly string[];
  call(): Promise<Outcome>;
  stored(): Promise<Stored>;
}

interface Outcome {
  /** `read`, or the code of an error. */
  readonly said: string;
  readonly delivery: string | undefined;
}

/** What is stored. */
interface Stored {
  readonly registrations: number;
  readonly accessToken: string | undefined;
}

async function openFronted(rules: AuthorizationServerOptions = {}): Promise<FrontedWorld> {
  const front = await FaultyFront.start();
  opened.push(front);
  const { origin } = front;
  const url = `${origin}/mcp`;
  const namesMetadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const world = await openWorld(opened, {
    issuer: { issuer: origin, ...rules },
    server: { resource: url, namesMetadata },
  });
  front.backends = { resource: world.server.origin, issuer: world.issuer.origin };
  return { ...world, front, url };
}

function startSide(world: FrontedWorld): Side {
  const { front, url } = world;
  const clock = new FakeClock();
  const store = memoryOAuthStore();
  const { oauth, visits } = startProgram(opened, world, { clock, store, transport: { maxAnswerBytes: 128 * 1024 } });
  const client = new ModernStreamableHTTPClient({
    endpoint: url,
    clientInfo: { name: "test", version: "1" },
    unknownTools: "call",
    authorize: oauth,
  });
  opened.push(client);
  return {
    world,
    clock,
    oauth,
    visits,
    call: () => drive(outcomeOf(client), clock, front),
    stored: () => readStore(store, url),
  };
}

async function outcomeOf(client: ModernStreamableHTTPClient): Promise<Outcome> {
  try {
    await client.callTool({ name: "read", arguments: {} });
    return { said: "read", delivery: undefined };
  } catch (error) {
    if (!isRemoteConnectorError(error)) return { said: String(error), delivery: undefined };
    return { said: error.code, delivery: error.delivery };
  }
}

/** Moves time over the pauses between attempts, and over deadlines of answers that are not coming. */
async function drive<T>(work: Promise<T>, clock: FakeClock, front: FaultyFront): Promise<T> {
  const state = { isOver: false };
  const ended = work.finally(() => (state.isOver = true));
  while (!state.isOver) {
    await settle();
    const isDue = clock.dueInMs <= 2_000 || (front.stalling > 0 && clock.dueInMs <= 30_000);
    if (!state.isOver && isDue) clock.step(clock.dueInMs);
  }
  return ended;
}

async function readStore({ credentials }: OAuthStore, url: string): Promise<Stored> {
  const rows = await credentials.list(url);
  const [tokens] = rows.filter(({ name }) => name === "tokens@");
  const record: { tokens?: { accessToken: string } } = JSON.parse(tokens?.text ?? "{}");
  return {
    registrations: rows.filter(({ text }) => text.includes('"kind":"registration"')).length,
    accessToken: record.tokens?.accessToken,
  };
}

const FAULTS = {
  drop: { kind: "drop" },
  "cut before the body": { kind: "cut", at: 0 },
  "cut at 1": { kind: "cut", at: 1 },
  "cut at 20": { kind: "cut", at: 20 },
  "cut at -1": { kind: "cut", at: -1 },
  "500": { kind: "answer", status: 500 },
  "503": { kind: "answer", status: 503, headers: { "Retry-After": "7" } },
  "429": { kind: "answer", status: 429, headers: { "Retry-After": "7" } },
  html: { kind: "answer", status: 200, headers: { "Content-Type": "text/html" }, body: "<p>Hello</p>" },
  stall: { kind: "stall" },
  flood: { kind: "flood" },
  refuse: undefined,
} as const satisfies Readonly<Record<string, WireFault | undefined>>;

type FaultName = keyof typeof FAULTS;

/** How the call ends whose exchange met a fault that is no answer. */
const OF_TRANSPORT = {
  drop: "connection_broken",
  "cut before the body": "connection_broken",
  "cut at 1": "connection_broken",
  "cut at 20": "connection_broken",
  "cut at -1": "connection_broken",
  stall: "timeout",
  flood: "limit_exceeded",
  refuse: "connect_failed",
} as const;

const DISCOVERY = { "500": "oauth_discovery_failed", "503": "oauth_discovery_failed" } as const;
const REFUSED = { "500": "oauth_refused", "503": "oauth_refused", "429": "oauth_refused" } as const;

interface Row {
  readonly step: Step;
  /** After its answer nobody listens, where connections of this step are to be refused. */
  readonly before: Step;
  readonly ends: Readonly<Record<FaultName, string>>;
  readonly registrations: number;
  readonly visits: number;
}

/** A 4xx and a page for people lead on: here to the place where a server of 2025-03-26 has its authorization server. */
const SIGN_IN: readonly Row[] = [
  {
    step: "resource",
    before: "mcp",
    ends: { ...OF_TRANSPORT, ...DISCOVERY, "429": "read", html: "read" },
    registrations: 0,
    visits: 1,
  },
  {
    step: "server",
    before: "resource",
    ends: { ...OF_TRANSPORT, ...DISCOVERY, "429": "oauth_discovery_failed", html: "oauth_discovery_failed" },
    registrations: 0,
    visits: 1,
  },
  {
    step: "register",
    before: "server",
    ends: { ...OF_TRANSPORT, ...REFUSED, html: "oauth_invalid" },
    registrations: 0,
    visits: 1,
  },
  {
    step: "token",
    before: "authorize",
    ends: { ...OF_TRANSPORT, ...REFUSED, html: "oauth_refused" },
    registrations: 1,
    visits: 2,
  },
];

/** One of each kind. */
const FEW = ["drop", "cut at 20", "503", "html", "stall", "flood"] as const;

const NAMES = Object.keys(FAULTS).filter((name): name is FaultName => name in FAULTS);

function meet({ front }: FrontedWorld, step: Step, name: FaultName, before: Step | undefined, times: number): void {
  const fault = FAULTS[name];
  if (fault !== undefined) front.add(step, fault, times);
  else if (before === undefined) front.down();
  else front.goDownAfter(before);
}

describe("a fault in one exchange of a sign-in", () => {
  it.each(SIGN_IN)("A-2: $step: the call fails by its kind, nothing wrong is kept, the next one works", async (row) => {
    const world = await openFronted();
    for (const name of NAMES) {
      const side = startSide(world);
      const expected = row.ends[name];
      meet(world, row.step, name, row.before, Infinity);

      const first = await side.call();

      const delivery = expected === "read" ? undefined : "answered";
      expect({ name, ...first }).toEqual({ name, said: expected, delivery });
      if (expected !== "read") {
        expect(await side.stored()).toEqual({ registrations: row.registrations, accessToken: undefined });
      }
      await world.front.heal();
      // Whoever was asked in vain rests for so long.
      side.clock.step(30_000);
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said: "read" });
      expect({ name, visits: side.visits.length }).toEqual({ name, visits: row.visits });
      expect((await side.stored()).registrations).toBe(1);
    }
  });
});

/** A person has signed in, and by the time that the client knows of, the token is over. */
async function signedIn(world: FrontedWorld): Promise<Side & { readonly old: Stored }> {
  const side = startSide(world);
  expect(await side.call()).toMatchObject({ said: "read" });
  const old = await side.stored();
  world.time.now += 7_200_000;
  // What was read of the store is older than it may be.
  side.clock.step(10_000);
  return { ...side, old };
}

const REFRESH = { ...OF_TRANSPORT, ...REFUSED, html: "oauth_refused" } as const;
/** What is no fault of the network, nor the server's own trouble, is not tried again at once. */
const AT_ONCE: ReadonlySet<FaultName> = new Set(["html", "flood"]);

describe("a fault in what follows", () => {
  it("A-7: of a refresh, when it passes, is got over, and a token that may come again is used again", async () => {
    const world = await openFronted({ rotatesRefreshTokens: false });
    for (const name of FEW) {
      const side = await signedIn(world);
      meet(world, "token", name, undefined, 1);
      const said = AT_ONCE.has(name) ? REFRESH[name] : "read";
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said });
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said: "read" });
      expect(side.visits).toHaveLength(1);
    }
  });

  it("A-7: of a refresh, when it lasts, keeps the tokens, sends nothing, and is over when it is over", async () => {
    const world = await openFronted({ rotatesRefreshTokens: false });
    for (const name of NAMES) {
      const side = await signedIn(world);
      const asked = world.front.asked.length;
      meet(world, "token", name, undefined, Infinity);

      expect({ name, ...(await side.call()) }).toEqual({ name, said: REFRESH[name], delivery: "not_sent" });

      const times = AT_ONCE.has(name) ? 1 : 3;
      const steps = Array.from({ length: name === "refuse" ? 0 : times }, () => "token");
      expect({ name, steps: world.front.asked.slice(asked) }).toEqual({ name, steps });
      expect(await side.stored()).toEqual(side.old);
      await world.front.heal();
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said: "read" });
      expect(side.visits).toHaveLength(1);
    }
  });

  it("A-7: of a refresh whose answer is lost with a rotated token asks a person, and keeps the registration", async () => {
    const world = await openFronted();
    for (const name of ["drop", "cut at 20", "cut at -1"] as const) {
      const side = await signedIn(world);
      const clients = world.issuer.clients.length;
      meet(world, "token", name, undefined, 1);
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said: "read" });
      expect(side.visits).toHaveLength(2);
      expect(world.issuer.clients).toHaveLength(clients);
    }
  });

  it("A-8: of a refresh after a refusal is the answer of the call, which was refused and did nothing", async () => {
    const world = await openFronted({ rotatesRefreshTokens: false });
    for (const name of ["drop", "503", "html", "stall", "refuse"] as const) {
      const side = startSide(world);
      await side.call();
      const old = await side.stored();
      world.issuer.expireNow(old.accessToken ?? "");
      // The resource's metadata are read before it.
      meet(world, "token", name, "resource", Infinity);
      expect({ name, ...(await side.call()) }).toEqual({ name, said: REFRESH[name], delivery: "answered" });
      expect(await side.stored()).toEqual(old);
      await world.front.heal();
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said: "read" });
      expect(side.visits).toHaveLength(1);
    }
  });

  it("A-8: of metadata that are read again says nothing against the issuer", async () => {
    const world = await openFronted();
    for (const name of FEW) {
      const side = startSide(world);
      await side.call();
      const refreshes = tokenRequests(world.issuer, "refresh_token").length;
      world.issuer.expireNow((await side.stored()).accessToken ?? "");
      meet(world, "resource", name, undefined, Infinity);
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said: "read" });
      expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(refreshes + 1);
      expect(side.visits).toHaveLength(1);
      await world.front.heal();
    }
  });

  it.each([403, 404, 429])("A-8: metadata that are not there for a while (%i) make no other issuer", async (status) => {
    const world = await openWorld(opened, {
      server: { challengeScopes: ["read"], requiredScopes: { "tools/call write": ["write"] } },
    });
    // A parent of the endpoint: what was published is what tokens are asked for afterwards, too.
    world.server.change({ resource: world.server.origin });
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    expect(await call(client)).toBe("read");
    const isMetadata = (body: unknown): boolean => typeof body === "object" && body !== null && "resource" in body;
    world.server.change({
      rewrite: (answer) => (isMetadata(answer.body) ? { status, body: undefined } : answer),
    });

    expect(await call(client, "write")).toBe("write");

    expect(program.events.map(({ kind }) => kind)).not.toContain("issuer_changed");
    expect(world.issuer.clients).toHaveLength(1);
    expect(program.visits).toHaveLength(2);
  });

  it("A-7: of a revocation leaves nothing behind here", async () => {
    const world = await openFronted();
    for (const name of FEW) {
      const side = startSide(world);
      await side.call();
      meet(world, "revoke", name, undefined, Infinity);
      const signingOut = drive(side.oauth.signOut(world.url), side.clock, world.front);
      expect({ name, was: await signingOut }).toEqual({ name, was: true });
      expect((await side.stored()).accessToken).toBeUndefined();
      await world.front.heal();
      expect({ name, ...(await side.call()) }).toMatchObject({ name, said: "read" });
    }
  });
});
