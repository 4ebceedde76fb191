import { afterEach, describe, expect, it } from "vitest";
import {
  connect,
  createEraMemory,
  type EraRecord,
  LegacyStreamableHTTPClient,
  type McpClient,
} from "../../../src/index.js";
import type { OAuth } from "../../../src/oauth/index.js";
import {
  type AccessRecord,
  answerFeed,
  answerStatus,
  AuthorizationServer,
  EventFeed,
  forwardTo,
  type Handler,
  likeLegacyServer,
  likeModernServer,
  messageEvent,
  notificationMessage,
  ProtectedServer,
  type ProtectedServerOptions,
  resultMessage,
} from "../../../src/testing/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { type OAuthWorld, startProgram, tokenRequests } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const HOUR_MS = 3_600_000;
const clientInfo = { name: "test", version: "1" };

/** The same as `openWorld`, before any other server. */
async function openWorldOf(handler: Handler, server: ProtectedServerOptions = {}): Promise<OAuthWorld> {
  const time = { now: 1_800_000_000_000 };
  const unixTime = (): number => time.now;
  const issuer = await AuthorizationServer.start({ allowsRegistration: true, unixTime });
  opened.push(issuer);
  const started = await ProtectedServer.start(handler, { authorizationServers: [issuer], unixTime, ...server });
  opened.push(started);
  return { issuer, server: started, time };
}

/** A server of sessions with a stream of its own, and a tool that runs for as long as a test likes. */
class SessionServer {
  /** One for each time that the stream was opened. */
  readonly streams: EventFeed[] = [];
  readonly running = new EventFeed();
  /** Openings of the stream that are refused although the token is good. */
  refusals = 0;
  readonly #answer: Handler;

  constructor() {
    const run = () => answerFeed(this.running);
    this.#answer = likeLegacyServer({ sessionId: "one", tools: [{ name: "read" }, { name: "long", run }] });
  }

  readonly handler: Handler = (request) => {
    if (request.verb !== "GET") return this.#answer(request);
    if (this.refusals > 0) {
      this.refusals -= 1;
      return answerStatus(401, { headers: { "WWW-Authenticate": "Bearer" } });
    }
    const feed = new EventFeed();
    this.streams.push(feed);
    return answerFeed(feed);
  };
}

function openSession(
  world: OAuthWorld,
  oauth: OAuth,
  heard: string[],
  clock: FakeClock,
): Promise<LegacyStreamableHTTPClient> {
  return LegacyStreamableHTTPClient.connect({
    endpoint: world.server.url,
    clientInfo,
    authorize: oauth,
    onNotification: ({ method }) => void heard.push(method),
    clock,
  });
}

async function read(client: Pick<McpClient, "callTool"> | LegacyStreamableHTTPClient): Promise<unknown> {
  return (await client.callTool({ name: "read", arguments: {} })).content;
}

/** How the requests for the endpoint came out, in order, and the ones without any token. */
function outcomes({ server }: OAuthWorld): { readonly all: readonly string[]; readonly bare: readonly string[] } {
  const mine = server.accesses.filter(({ outcome }) => outcome === "passed" || outcome === "refused");
  return { all: mine.map(shown), bare: mine.filter(({ authorization }) => authorization === undefined).map(shown) };
}

function shown({ outcome, request }: AccessRecord): string {
  return `${request.method ?? request.verb} ${outcome}`;
}

const READ = [{ type: "text", text: "{}" }];

describe("a session of the older era", () => {
  it("A-8: every request of it carries the token, whose end in the middle of a call ends neither the call nor the session", async () => {
    const sessions = new SessionServer();
    const world = await openWorldOf(sessions.handler);
    const program = startProgram(opened, world);
    const heard: string[] = [];
    const client = await openSession(world, program.oauth, heard, new FakeClock());
    opened.push(client);
    const running = client.callTool({ name: "long", arguments: {} });
    while (sessions.running.listeners === 0 || sessions.streams.length === 0) await settle();

    world.time.now += 2 * HOUR_MS;
    sessions.running.send(messageEvent(resultMessage({ content: READ })));
    expect((await running).content).toEqual(READ);
    sessions.streams[0]?.send(messageEvent(notificationMessage("notifications/tools/list_changed")));
    while (heard.length === 0) await settle();
    expect(await Promise.all([read(client), read(client)])).toEqual([READ, READ]);
    const [token] = world.issuer.tokens.filter(({ kind, state }) => kind === "access" && state === "active").slice(-1);
    world.issuer.expireNow(token?.token ?? "");
    expect(await read(client)).toEqual(READ);
    await client.close();

    expect(program.visits).toHaveLength(1);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
    const { all, bare } = outcomes(world);
    expect(bare).toEqual(["initialize refused"]);
    expect(all.filter((one) => one === "initialize passed")).toHaveLength(1);
    expect(all.filter((one) => one.endsWith("refused"))).toEqual(["initialize refused", "tools/call refused"]);
    expect(all).toContain("GET passed");
    expect(all.at(-1)).toBe("DELETE passed");
  });

  it("A-8: a stream that is refused is opened with a refreshed token, and again with the newest one when it ends", async () => {
    const sessions = new SessionServer();
    const world = await openWorldOf(sessions.handler);
    const program = startProgram(opened, world);
    sessions.refusals = 1;
    const clock = new FakeClock();
    const client = await openSession(world, program.oauth, [], clock);
    opened.push(client);
    while (sessions.streams.length < 1) await settle();
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(1);

    world.time.now += 2 * HOUR_MS;
    sessions.streams[0]?.end();
    while (sessions.streams.length < 2) {
      await settle();
      if (clock.dueInMs <= 10_000) clock.step(clock.dueInMs);
    }
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
    expect(program.visits).toHaveLength(1);
    expect(await read(client)).toEqual(READ);
  });

  it("A-8: a stream that is refused for good asks nobody, and everything else goes on", async () => {
    const sessions = new SessionServer();
    const world = await openWorldOf(sessions.handler);
    world.issuer.change({ issuesRefreshTokens: false });
    const program = startProgram(opened, world);
    sessions.refusals = Infinity;
    const client = await openSession(world, program.oauth, [], new FakeClock());
    opened.push(client);
    expect(await read(client)).toEqual(READ);
    expect(await read(client)).toEqual(READ);
    expect(program.visits).toHaveLength(1);
    expect(outcomes(world).all.filter((one) => one.startsWith("GET"))).toHaveLength(1);
  });
});

interface EraCase {
  readonly era: "modern" | "legacy";
  readonly what: string;
  readonly open: () => Promise<OAuthWorld>;
}

/** A server of 2025-03-26: it publishes nothing of itself, and is its own authorization server. */
async function openOldest(publishes: boolean): Promise<OAuthWorld> {
  const handler = likeLegacyServer({ revision: "2025-03-26", tools: [{ name: "read" }], sessionId: "one" });
  const world = await openWorldOf(handler, { metadataAt: [], namesMetadata: false });
  const { issuer, server } = world;
  server.change({ otherPaths: forwardTo(issuer.origin) });
  issuer.change({ issuer: server.origin, announcesIssuer: publishes, metadataAt: publishes ? ["oauth"] : [] });
  return world;
}

const ERAS: readonly EraCase[] = [
  { era: "modern", what: "of 2026-07-28", open: () => openWorldOf(likeModernServer({ tools: [{ name: "read" }] })) },
  {
    era: "legacy",
    what: "of 2025-11-25",
    open: () => openWorldOf(likeLegacyServer({ tools: [{ name: "read" }], sessionId: "one" })),
  },
  { era: "legacy", what: "of 2025-03-26 with metadata", open: () => openOldest(true) },
  { era: "legacy", what: "of 2025-03-26 without any", open: () => openOldest(false) },
];

describe("the era of a server behind OAuth", () => {
  it.each(ERAS)("A-3: is found behind the sign-in: one $what, which is remembered", async ({ era, open }) => {
    const world = await open();
    const program = startProgram(opened, world);
    const records: EraRecord[] = [];
    const inner = createEraMemory();
    const eraMemory = {
      ...inner,
      write: (key: string, record: EraRecord) => inner.write(key, (records.push(record), record)),
    };
    const options = { endpoint: world.server.url, clientInfo, eraMemory } as const;

    // Nobody can be asked: nothing is known of it then.
    const silent = connect({ ...options, authorize: program.oauth.account("", { asks: false }) });
    await expect(silent).rejects.toMatchObject({ code: "sign_in_required", delivery: "answered" });
    expect(records).toEqual([]);

    for (let times = 0; times < 2; times += 1) {
      const client = await connect({ ...options, authorize: program.oauth });
      opened.push(client);
      expect(client.era).toBe(era);
      expect(await read(client)).toEqual(READ);
      const valid = world.issuer.tokens.filter(({ kind, state }) => kind === "access" && state === "active");
      for (const { token } of valid) world.issuer.expireNow(token);
      expect(await read(client)).toEqual(READ);
      await client.close();
    }

    expect(records.map((record) => record.era)).toEqual([era]);
    expect(program.visits).toHaveLength(1);
    expect(tokenRequests(world.issuer, "refresh_token")).toHaveLength(2);
    // Those of nobody, and the first one of somebody.
    expect(outcomes(world).bare).toHaveLength(2);
    const resources = new Set(world.issuer.tokens.flatMap((token) => token.resources));
    expect([...resources]).toEqual([world.server.url]);
  });
});
