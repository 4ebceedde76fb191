import type { LookupFunction } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { OAuthTransportOptions, RequesterConfig } from "../../../src/oauth/oauth-options.js";
import { createRequester, resolveRequester } from "../../../src/oauth/requests/index.js";
import { OriginPool } from "../../../src/oauth/requests/origin-pool.js";
import { resolveTransportOptions } from "../../../src/transport/index.js";
import { AUTHORITY } from "../../support/certificates.js";
import { ConnectProxy } from "../../support/connect-proxy.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { cutDocument, hangUp, latch, Places, redirectTo, textOf } from "./places.js";

const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function startPlaces(scheme?: "http" | "https"): Promise<Places> {
  const places = await Places.start(scheme);
  open.push(places);
  return places;
}

async function requesterFor(
  endpoint: string,
  options: OAuthTransportOptions = {},
  change: Partial<RequesterConfig> = {},
) {
  const clock = new FakeClock();
  const config = await resolveRequester(new URL(endpoint), { ca: AUTHORITY, ...options }, clock);
  const requester = createRequester({ ...config, ...change });
  open.push(requester);
  return { requester, clock };
}

async function start(options: OAuthTransportOptions = {}) {
  const places = await startPlaces();
  return { places, ...(await requesterFor(`${places.origin}/mcp`, options)) };
}

const form = (url: string) => ({ url, contentType: "application/x-www-form-urlencoded", body: "grant=é" }) as const;

describe("createRequester", () => {
  it("A-11: reads a whole answer of any status, and sends nothing that it was not told", async () => {
    const { places, requester } = await start();
    places.places = { "/a?b=1": textOf("Application/JSON; charset=utf-8", '{"é":1}', 418) };
    const answer = await requester.get(`${places.origin}/a?b=1`);
    expect({ ...answer, headers: answer.headers["content-type"], body: Buffer.from(answer.body).toString() }).toEqual({
      url: `${places.origin}/a?b=1`,
      status: 418,
      mediaType: "application/json",
      headers: "Application/JSON; charset=utf-8",
      body: '{"é":1}',
    });
    const names = Object.keys(places.visits[0]?.headers ?? {}).filter((name) => name !== "accept-encoding");
    expect(names.toSorted()).toEqual(["accept", "connection", "host"]);
  });

  it("A-11: sends a form with headers of its own, once", async () => {
    const { places, requester } = await start();
    places.places = { "/token": textOf("application/json", "{}", 400) };
    const answer = await requester.post({ ...form(`${places.origin}/token`), headers: { DPoP: "proof" } });
    expect(answer).toMatchObject({ status: 400, url: `${places.origin}/token` });
    expect(places.visits).toEqual([
      {
        method: "POST",
        path: "/token",
        body: "grant=é",
        headers: expect.objectContaining({
          dpop: "proof",
          "content-type": "application/x-www-form-urlencoded",
          accept: "application/json",
        }),
      },
    ]);
  });

  it("A-11: undoes a content coding that nobody asked for", async () => {
    const { places, requester } = await start();
    const coded = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
    places.places = { "/a": (_request, response) => response.writeHead(200, coded).end(gzipSync('{"a":1}')) };
    const { body } = await requester.get(`${places.origin}/a`);
    expect(Buffer.from(body).toString()).toBe('{"a":1}');
  });

  it.each([301, 302, 303, 307, 308])("A-11: follows %i three times when it reads, with a GET", async (status) => {
    const { places, requester } = await start();
    places.places = {
      "/0": redirectTo("/1", status),
      "/1": redirectTo("2", status),
      "/2": redirectTo(`${places.origin}/3`, status),
      "/3": { found: true },
      "/a": redirectTo("/0", status),
    };
    await expect(requester.get(`${places.origin}/0`)).resolves.toMatchObject({
      status: 200,
      url: `${places.origin}/3`,
    });
    expect(places.asked).toEqual(["/0", "/1", "/2", "/3"]);
    await expect(requester.get(`${places.origin}/a`)).rejects.toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
      details: { status },
    });
    expect(places.asked.slice(4)).toEqual(["/a", "/0", "/1", "/2"]);
  });

  it("A-11: follows a redirect to https of the same host", async () => {
    const secure = await startPlaces("https");
    const { places, requester } = await start();
    secure.places = { "/doc": { found: true } };
    places.places = { "/doc": redirectTo(`${secure.origin}/doc`) };
    await expect(requester.get(`${places.origin}/doc`)).resolves.toMatchObject({
      status: 200,
      url: `${secure.origin}/doc`,
    });
  });

  it.each([301, 302, 303, 307, 308])("A-11: never redirects with %i what it sends", async (status) => {
    const { places, requester } = await start();
    places.places = { "/token": redirectTo("/other", status) };
    await expect(requester.post(form(`${places.origin}/token`))).rejects.toMatchObject({
      code: "redirect_refused",
      delivery: "answered",
    });
    expect(places.asked).toEqual(["POST /token"]);
  });

  it.each([
    ["with its length", { "Content-Length": "1001" }],
    ["without", {}],
  ])("A-11: a document that is too large is not read, %s", async (_what, headers) => {
    const { places, requester } = await start({ maxAnswerBytes: 1_000 });
    const typed = { "Content-Type": "application/json", ...headers };
    places.places = {
      "/large": (_request, response) => response.writeHead(200, typed).end("x".repeat(1_001)),
      "/full": textOf("application/json", "x".repeat(1_000)),
      "/refused": textOf("application/json", "x".repeat(1_001), 400),
    };
    for (const run of [
      () => requester.get(`${places.origin}/large`),
      () => requester.post(form(`${places.origin}/large`)),
    ]) {
      await expect(run()).rejects.toMatchObject({
        code: "limit_exceeded",
        delivery: "unknown",
        details: { option: "maxAnswerBytes", limit: 1_000 },
      });
    }
    for (const path of ["/full", "/refused"]) {
      expect((await requester.get(places.origin + path)).body).toHaveLength(1_000);
    }
  });

  it("A-11: a document that is cut is no document", async () => {
    const { places, requester } = await start();
    places.places = { "/cut": cutDocument, "/none": hangUp };
    for (const path of ["/cut", "/none"]) {
      await expect(requester.get(places.origin + path)).rejects.toMatchObject({ code: "connection_broken" });
      await expect(requester.post(form(places.origin + path))).rejects.toMatchObject({
        code: "connection_broken",
        delivery: "unknown",
      });
    }
  });

  it.each([
    ["before the answer", (): void => undefined],
    ["in the midst of it", (response: { write(text: string): unknown }): void => void response.write("{")],
  ])("A-11: one deadline is for all of a request, redirects included, %s", async (_what, begin) => {
    const { clock, places, requester } = await start({ requestTimeoutMs: 30_000 });
    const reached = latch();
    places.places = {
      "/0": (request, response) => {
        // What is there already counts.
        clock.step(20_000);
        response.writeHead(302, { Location: "/1" }).end();
        request.resume();
      },
      "/1": (_request, response) => {
        begin(response);
        reached.open();
      },
    };
    const failure = outcomeOf(requester.get(`${places.origin}/0`));
    await reached.opened;
    await clock.advance(9_999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await failure).toMatchObject({
      code: "timeout",
      delivery: "unknown",
      details: { phase: "total", option: "requestTimeoutMs", limitMs: 30_000 },
    });
  });

  it("A-11: the deadline ends a name that nobody looks up", async () => {
    const asked = latch();
    const { clock, requester } = await requesterFor("https://mcp.test/mcp", { lookup: () => asked.open() });
    const failure = outcomeOf(requester.post(form("https://as.test/token")));
    await asked.opened;
    await clock.advance(30_000);
    expect(await failure).toMatchObject({ code: "timeout", delivery: "not_sent" });
  });

  it("A-11: an aborted request rejects with the reason of the signal", async () => {
    const { places, requester } = await start();
    const ending = new AbortController();
    places.places = { "/slow": () => ending.abort("enough") };
    await expect(requester.get(`${places.origin}/slow`, ending.signal)).rejects.toBe("enough");
    await expect(requester.get(`${places.origin}/slow`, ending.signal)).rejects.toBe("enough");
    await expect(requester.post(form(`${places.origin}/slow`), ending.signal)).rejects.toBe("enough");
    expect(places.visits).toHaveLength(1);
  });

  it("A-11: closing ends what is under way, and all that comes later", async () => {
    const { clock, places, requester } = await start();
    const reached = latch();
    places.places = { "/slow": () => reached.open() };
    const failure = outcomeOf(requester.get(`${places.origin}/slow`));
    await reached.opened;
    await Promise.all([requester.close(), requester.close()]);
    expect(await failure).toMatchObject({ code: "cancelled", delivery: "unknown" });
    await expect(requester.get(`${places.origin}/slow`)).rejects.toMatchObject({
      code: "cancelled",
      delivery: "not_sent",
    });
    expect(clock.pending).toBe(0);
  });

  it("A-11: requests at once keep their own paths", async () => {
    const { places, requester } = await start();
    places.places = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`/${i}`, { i }]));
    const answers = await Promise.all(Object.keys(places.places).map((path) => requester.get(places.origin + path)));
    expect(answers.map(({ body }) => JSON.parse(Buffer.from(body).toString()).i)).toEqual(
      Array.from({ length: 30 }, (_, i) => i),
    );
    expect(places.connections).toBeLessThan(30);
  });

  it("A-11: through a proxy, which looks names up and may be anywhere, and over its tunnels alone", async () => {
    const secure = await startPlaces("https");
    secure.places = { "/doc": { found: true }, "/token": { posted: true } };
    const proxy = await ConnectProxy.start();
    open.push(proxy);
    const asked: string[] = [];
    const lookup: LookupFunction = (name, _options, callback) => {
      asked.push(name);
      callback(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    const url = proxy.url.replace("127.0.0.1", "proxy.test");
    const { requester } = await requesterFor("https://mcp.test/mcp", { proxy: { url }, lookup });
    await expect(requester.get(`${secure.originAt("mcp.test")}/doc`)).resolves.toMatchObject({ status: 200 });
    const posted = requester.post(form(`${secure.originAt("mcp.test")}/token`));
    await expect(posted).resolves.toMatchObject({ status: 200 });
    expect(secure.connections).toBe(proxy.tunnels.length);
    expect(new Set(proxy.tunnels.map(({ to }) => to))).toEqual(new Set([`mcp.test:${String(secure.port)}`]));
    expect(new Set(asked)).toEqual(new Set(["proxy.test"]));
  });

  it("A-11: names that the environment excepts from its proxy are guarded, and so are all without one", async () => {
    const secure = await startPlaces("https");
    const proxy = await ConnectProxy.start();
    open.push(proxy);
    for (const name of ["HTTPS_PROXY", "https_proxy"]) vi.stubEnv(name, proxy.url);
    for (const name of ["NO_PROXY", "no_proxy"]) vi.stubEnv(name, "proxy.test");
    onTestFinished(() => void vi.unstubAllEnvs());
    const lookup: LookupFunction = (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]);
    const { requester } = await requesterFor("https://mcp.test/mcp", { proxy: "environment", lookup });
    const refused = { code: "connect_failed", details: { reason: "ERR_ADDRESS_REFUSED" } };
    await expect(requester.get(`${secure.originAt("proxy.test")}/`)).rejects.toMatchObject(refused);
    expect(proxy.tunnels).toEqual([]);
    await expect(requester.get(`${secure.originAt("mcp.test")}/`)).resolves.toMatchObject({ status: 404 });
    expect(proxy.tunnels).toHaveLength(1);
  });

  it("A-11: an environment whose proxy is none is refused by name, without its value", async () => {
    for (const name of ["HTTPS_PROXY", "https_proxy"]) vi.stubEnv(name, "socks5://me:secret@h");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { requester } = await requesterFor("https://mcp.test/mcp", { proxy: "environment" });
    const error = await outcomeOf(requester.get("https://mcp.test/"));
    expect(error).toMatchObject({ code: "invalid_options", details: { option: "proxy" } });
    expect(String(error)).not.toContain("secret");
  });
});

describe("OriginPool", () => {
  const urlOf = (i: number) => new URL(`https://h${i}.test/`);

  it("A-11: keeps the connections of few origins, and never gives up one that is in use", async () => {
    const clock = new FakeClock();
    const pool = new OriginPool(resolveTransportOptions({ clock }));
    open.push(pool);
    const release = latch();
    const held = pool.use(urlOf(0), async (endpoint) => {
      await release.opened;
      return endpoint.isClosed;
    });
    for (let i = 1; i < 30; i += 1) await pool.use(urlOf(i), () => Promise.resolve());
    expect(pool.size).toBe(8);
    release.open();
    expect(await held).toBe(false);
    await settle();
    clock.step(60_000);
    await pool.use(urlOf(29), () => Promise.resolve());
    expect(pool.size).toBe(1);
  });
});

function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error);
}
