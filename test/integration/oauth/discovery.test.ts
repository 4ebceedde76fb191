import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readChallenges } from "../../../src/oauth/challenge/index.js";
import { checkCodeFlow, chooseIssuer, discoverResource, discoverServer } from "../../../src/oauth/discovery/index.js";
import type { ProtectedResource } from "../../../src/oauth/protected-resource.js";
import type { OAuthRequester } from "../../../src/oauth/requester.js";
import { createRequester, resolveRequester } from "../../../src/oauth/requests/index.js";
import { AUTHORITY } from "../../support/certificates.js";
import { FakeClock } from "../../support/fake-clock.js";
import { cutDocument, hangUp, latch, type Place, Places, redirectTo, textOf } from "./places.js";

const RESOURCE = "/.well-known/oauth-protected-resource";
const OAUTH = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";

const open: { close(): unknown }[] = [];
const clock = new FakeClock();
/** The MCP server, and an authorization server elsewhere. */
let mcp: Places;
let as: Places;
let endpoint: URL;
let requester: OAuthRequester;

beforeEach(async () => {
  mcp = await Places.start();
  as = await Places.start();
  endpoint = new URL(`${mcp.origin}/mcp`);
  const config = await resolveRequester(endpoint, { ca: AUTHORITY, maxAnswerBytes: 10_000 }, clock);
  const made = createRequester(config);
  requester = made;
  open.push(mcp, as, made);
});

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

const resourceOf = (change: object = {}) => ({
  resource: endpoint.href,
  authorization_servers: [as.origin],
  ...change,
});
const serverOf = (issuer: string, change: object = {}) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  code_challenge_methods_supported: ["S256"],
  ...change,
});

/** The challenge that names these places. */
const naming = (...urls: string[]) => readChallenges(urls.map((url) => `Bearer resource_metadata="${url}"`));

const findResource = (...urls: string[]): Promise<ProtectedResource> =>
  discoverResource(requester, endpoint, urls.length === 0 ? undefined : naming(...urls));

async function findServer(resource: ProtectedResource) {
  const issuer = chooseIssuer(resource, { withTokens: [], preRegistered: [] });
  return discoverServer(requester, issuer, resource);
}

describe("discovery", () => {
  it("A-2: metadata where the challenge says, a server without a path", async () => {
    mcp.places = { [`${RESOURCE}/mcp`]: resourceOf(), [RESOURCE]: 500 };
    as.places = { [OAUTH]: serverOf(as.origin) };
    const server = await findServer(await findResource(`${mcp.origin}${RESOURCE}/mcp`));
    expect(server).toEqual({ source: "document", metadata: expect.objectContaining(serverOf(as.origin)) });
    expect([mcp.asked, as.asked]).toEqual([[`${RESOURCE}/mcp`], [OAUTH]]);
    expect(() => checkCodeFlow(server)).not.toThrow();
  });

  it("A-2: metadata where nobody says, below the endpoint's path, a server of OpenID", async () => {
    mcp.places = { [`${RESOURCE}/mcp`]: resourceOf() };
    as.places = { [OPENID]: serverOf(as.origin) };
    await expect(findServer(await findResource())).resolves.toMatchObject({ source: "document" });
    expect([mcp.asked, as.asked]).toEqual([[`${RESOURCE}/mcp`], [OAUTH, OPENID]]);
  });

  it("A-2: metadata at the root alone, a server with a path, whose root says otherwise", async () => {
    const issuer = `${as.origin}/tenant1`;
    mcp.places = { [RESOURCE]: resourceOf({ resource: mcp.origin, authorization_servers: [issuer] }) };
    as.places = { [`${OAUTH}/tenant1`]: serverOf(issuer), [OAUTH]: serverOf(as.origin) };
    const resource = await findResource();
    expect(resource).toMatchObject({ resource: mcp.origin, source: mcp.origin + RESOURCE });
    await expect(findServer(resource)).resolves.toMatchObject({ metadata: { issuer } });
    expect([mcp.asked, as.asked]).toEqual([[`${RESOURCE}/mcp`, RESOURCE], [`${OAUTH}/tenant1`]]);
  });

  it("A-3: metadata at a place of its own, a server that has its path first", async () => {
    const issuer = `${as.origin}/tenant1`;
    mcp.places = { "/custom/metadata.json": resourceOf({ authorization_servers: [issuer] }) };
    as.places = { [`/tenant1${OPENID}`]: serverOf(issuer), [OAUTH]: 500 };
    await expect(findServer(await findResource(`${mcp.origin}/custom/metadata.json`))).resolves.toMatchObject({
      metadata: { issuer },
    });
    expect(as.asked).toEqual([`${OAUTH}/tenant1`, `${OPENID}/tenant1`, `/tenant1${OPENID}`]);
  });

  it("A-2: of two resources of one origin the one below the endpoint's path is taken", async () => {
    mcp.places = { [`${RESOURCE}/mcp`]: resourceOf(), [RESOURCE]: resourceOf({ resource: mcp.origin }) };
    for (const resource of [await findResource(), await findResource(`${mcp.origin}${RESOURCE}/mcp`)]) {
      expect(resource.resource).toBe(endpoint.href);
    }
  });

  it("A-2: metadata of another origin is taken over https", async () => {
    const secure = await Places.start("https");
    open.push(secure);
    secure.places = { "/m": resourceOf() };
    await expect(findResource(`${secure.origin}/m`)).resolves.toMatchObject({ source: `${secure.origin}/m` });
    expect(mcp.visits).toEqual([]);
  });

  it("A-2: the source is where a redirect led", async () => {
    mcp.places = { [`${RESOURCE}/mcp`]: redirectTo("/moved"), "/moved": resourceOf() };
    await expect(findResource()).resolves.toMatchObject({ source: `${mcp.origin}/moved` });
  });
});

describe("discoverResource", () => {
  it("A-2: the places of a challenge are asked until one is right, each once, and unusable URLs passed over", async () => {
    mcp.places = {
      "/none": 404,
      "/page": textOf("text/html", "<html>"),
      "/evil": resourceOf({ resource: as.origin }),
      "/m": resourceOf(),
    };
    const found = await findResource(
      "/relative",
      "javascript:alert(1)",
      "http://169.254.169.254/m",
      `${mcp.origin}/none`,
      `${mcp.origin}/none`,
      `${mcp.origin}/page`,
      `${mcp.origin}/evil`,
      `${mcp.origin}/m`,
    );
    expect(found.source).toBe(`${mcp.origin}/m`);
    expect(mcp.asked).toEqual(["/none", "/page", "/evil", "/m"]);
  });

  it("A-2: when none of them has anything the well-known places are asked, but for those that were", async () => {
    await findResource("not a URL", `${mcp.origin}${RESOURCE}/mcp`);
    expect(mcp.asked).toEqual([`${RESOURCE}/mcp`, RESOURCE]);
  });

  it.each<[string, object]>([
    ["another resource", { resource: "https://evil.example.com/mcp" }],
    ["another resource of the origin", { resource: "/mc" }],
    ["no authorization server", { authorization_servers: [] }],
  ])("A-2: metadata of %s ends the search, wherever it was", async (_what, change) => {
    const document = resourceOf(change);
    const invalid = { code: "oauth_invalid", delivery: "answered", details: { subject: "resource_metadata" } };
    mcp.places = { "/m": document, [`${RESOURCE}/mcp`]: resourceOf() };
    await expect(findResource(`${mcp.origin}/m`)).rejects.toMatchObject(invalid);
    mcp.places = { [`${RESOURCE}/mcp`]: document, [RESOURCE]: resourceOf() };
    await expect(findResource()).rejects.toMatchObject(invalid);
    mcp.places = { [RESOURCE]: document };
    await expect(findResource()).rejects.toMatchObject(invalid);
    expect(mcp.asked).toEqual(["/m", `${RESOURCE}/mcp`, `${RESOURCE}/mcp`, RESOURCE]);
    expect(as.visits).toEqual([]);
  });

  it.each([400, 401, 403, 404, 405, 410, 429])("A-2: %i leads on", async (status) => {
    mcp.places = { "/m": status, [`${RESOURCE}/mcp`]: status, [RESOURCE]: resourceOf() };
    await expect(findResource(`${mcp.origin}/m`)).resolves.toMatchObject({ source: mcp.origin + RESOURCE });
    expect(mcp.asked).toEqual(["/m", `${RESOURCE}/mcp`, RESOURCE]);
  });

  it.each<[string, Place, object]>([
    ["500", 500, { code: "oauth_discovery_failed", details: { status: 500 } }],
    ["503", 503, { code: "oauth_discovery_failed", details: { status: 503 } }],
    ["304", 304, { code: "oauth_discovery_failed", details: { status: 304 } }],
    ["JSON that is none", textOf("application/json", "{"), { code: "oauth_invalid" }],
    ["a list", [], { code: "oauth_invalid" }],
    ["a connection that ends", hangUp, { code: "connection_broken" }],
    ["a document that is cut", cutDocument, { code: "connection_broken" }],
    ["a document that is too large", textOf("application/json", " ".repeat(10_001)), { code: "limit_exceeded" }],
    ["a redirect to elsewhere", redirectTo("https://elsewhere.test/m"), { code: "redirect_refused" }],
  ])("A-2: %s stops the search at every step", async (_what, place, failure) => {
    const steps = ["/m", `${RESOURCE}/mcp`, RESOURCE];
    for (const [index, step] of steps.entries()) {
      mcp.visits.length = 0;
      mcp.places = { [step]: place };
      await expect(findResource(`${mcp.origin}/m`)).rejects.toMatchObject(failure);
      expect(mcp.asked).toEqual(steps.slice(0, index + 1));
    }
  });

  it("A-11: a place that does not answer stops the search by its deadline", async () => {
    const asked = latch();
    mcp.places = { [`${RESOURCE}/mcp`]: () => asked.open() };
    const failure = findResource().catch((error: unknown) => error);
    await asked.opened;
    await clock.advance(30_000);
    expect(await failure).toMatchObject({ code: "timeout", details: { option: "requestTimeoutMs" } });
    expect(mcp.visits).toHaveLength(1);
  });

  it("A-2: the reason of a signal ends the search", async () => {
    const ending = new AbortController();
    mcp.places = { [`${RESOURCE}/mcp`]: () => ending.abort("enough") };
    await expect(discoverResource(requester, endpoint, undefined, ending.signal)).rejects.toBe("enough");
    await expect(discoverResource(requester, endpoint, naming(`${mcp.origin}/m`), ending.signal)).rejects.toBe(
      "enough",
    );
  });

  it("A-2: shows no value of a query", async () => {
    endpoint = new URL(`${mcp.origin}/mcp?key=secret`);
    mcp.places = { [`${RESOURCE}/mcp?key=secret`]: 500 };
    const failure: unknown = await findResource().catch((error: unknown) => error);
    expect(JSON.stringify(failure)).toContain("key=…");
    expect(JSON.stringify(failure)).not.toContain("secret");
  });
});

describe("discoverServer", () => {
  const published = (issuer: string): ProtectedResource => ({
    resource: endpoint.href,
    source: `${mcp.origin}${RESOURCE}`,
    authorizationServers: [issuer],
    scopesSupported: undefined,
    needsDpop: false,
  });

  it("A-3: a document of another issuer ends the search: no further place is asked, nothing else is used", async () => {
    const issuer = `${as.origin}/tenant1`;
    as.places = {
      [`${OAUTH}/tenant1`]: serverOf("https://attacker.example.com"),
      [`${OPENID}/tenant1`]: serverOf(issuer),
    };
    await expect(findServer(published(issuer))).rejects.toMatchObject({
      code: "oauth_invalid",
      delivery: "answered",
      details: { subject: "server_metadata", member: "issuer" },
    });
    expect([as.asked, mcp.asked]).toEqual([[`${OAUTH}/tenant1`], []]);
  });

  it.each([
    ["a slash less", "/tenant1/", "/tenant1"],
    ["a slash more", "/tenant1", "/tenant1/"],
    ["a slash at the root", "", "/"],
    ["no slash at the root", "/", ""],
    ["another case", "/Tenant1", "/tenant1"],
    ["another spelling", "/tenant%31", "/tenant1"],
  ])("A-3: an issuer that differs by %s is another", async (_what, asked, given) => {
    const path = new URL(as.origin + asked).pathname.replace(/\/$/, "");
    as.places = { [OAUTH + path]: serverOf(as.origin + given) };
    await expect(findServer(published(as.origin + asked))).rejects.toMatchObject({
      code: "oauth_invalid",
      details: { member: "issuer" },
    });
    as.places = { [OAUTH + path]: serverOf(as.origin + asked) };
    await expect(findServer(published(as.origin + asked))).resolves.toMatchObject({ source: "document" });
  });

  it.each([400, 401, 404, 429])("A-3: %i everywhere is a failure when the resource was published", async (status) => {
    const issuer = `${as.origin}/t`;
    as.places = { [`${OAUTH}/t`]: status, [`${OPENID}/t`]: status, [`/t${OPENID}`]: status };
    await expect(findServer(published(issuer))).rejects.toMatchObject({
      code: "oauth_discovery_failed",
      delivery: "answered",
      details: { status, url: `${as.origin}/t${OPENID}` },
    });
    expect(as.visits).toHaveLength(3);
  });

  it.each<[string, Place, object]>([
    ["500", 500, { code: "oauth_discovery_failed", details: { status: 500 } }],
    ["502", 502, { code: "oauth_discovery_failed", details: { status: 502 } }],
    ["JSON that is none", textOf("application/json", "nope"), { code: "oauth_invalid" }],
    ["a connection that ends", hangUp, { code: "connection_broken" }],
    ["a document that is cut", cutDocument, { code: "connection_broken" }],
    ["a document that is too large", textOf("application/json", " ".repeat(10_001)), { code: "limit_exceeded" }],
    ["a redirect to elsewhere", redirectTo("http://169.254.169.254/"), { code: "redirect_refused" }],
  ])("A-3: %s stops the search at every step, published or not", async (_what, place, failure) => {
    const steps = [`${OAUTH}/t`, `${OPENID}/t`, `/t${OPENID}`];
    for (const [index, step] of steps.entries()) {
      as.visits.length = 0;
      as.places = { [step]: place };
      await expect(findServer(published(`${as.origin}/t`))).rejects.toMatchObject(failure);
      expect(as.asked).toEqual(steps.slice(0, index + 1));
    }
    for (const step of [OAUTH, OPENID]) {
      mcp.places = { [step]: place };
      await expect(findServer(await findResource())).rejects.toMatchObject(failure);
    }
  });

  it("A-11: a server that does not answer stops the search by its deadline", async () => {
    const asked = latch();
    as.places = { [OAUTH]: () => asked.open() };
    const failure = findServer(published(as.origin)).catch((error: unknown) => error);
    await asked.opened;
    await clock.advance(30_000);
    expect(await failure).toMatchObject({ code: "timeout" });
  });

  it("A-3: an issuer with a query is none, nor is one that others could read as another", async () => {
    const ambiguous = [`${as.origin}\\@other.test`, ` ${as.origin}`, `${as.origin}/\n`];
    for (const issuer of [`${as.origin}/?x=1`, `${as.origin}?`, `${as.origin}/#x`, ...ambiguous]) {
      await expect(findServer(published(issuer))).rejects.toMatchObject({
        code: "oauth_invalid",
        details: { subject: "resource_metadata", member: "authorization_servers" },
      });
    }
    expect(as.visits).toEqual([]);
  });
});

describe("a server of revision 2025-03-26", () => {
  it("A-3: publishes its metadata at its origin", async () => {
    const document = serverOf(mcp.origin, { token_endpoint: `${mcp.origin}/oauth/token` });
    mcp.places = { [OAUTH]: document };
    const resource = await findResource();
    expect(resource).toMatchObject({ resource: undefined, source: undefined, authorizationServers: [mcp.origin] });
    await expect(findServer(resource)).resolves.toMatchObject({ source: "document", metadata: document });
    expect(mcp.asked).toEqual([`${RESOURCE}/mcp`, RESOURCE, OAUTH]);
  });

  it("A-3: may write its origin with a slash, and no other issuer", async () => {
    mcp.places = { [OAUTH]: serverOf(`${mcp.origin}/`) };
    const resource = await findResource();
    await expect(findServer(resource)).resolves.toMatchObject({ metadata: { issuer: `${mcp.origin}/` } });
    for (const other of [`${mcp.origin}//`, `${mcp.origin}/mcp`, as.origin]) {
      mcp.places = { [OAUTH]: serverOf(other) };
      await expect(findServer(resource)).rejects.toMatchObject({
        code: "oauth_invalid",
        details: { member: "issuer" },
      });
    }
  });

  it("A-3: has default endpoints when every place answers 4xx", async () => {
    mcp.places = { [OAUTH]: 405, [OPENID]: 401 };
    const server = await findServer(await findResource());
    expect(server).toEqual({
      source: "defaults",
      metadata: {
        issuer: mcp.origin,
        authorization_endpoint: `${mcp.origin}/authorize`,
        token_endpoint: `${mcp.origin}/token`,
        registration_endpoint: `${mcp.origin}/register`,
      },
    });
    expect(() => checkCodeFlow(server)).not.toThrow();
    expect(mcp.asked).toEqual([`${RESOURCE}/mcp`, RESOURCE, OAUTH, OPENID]);
  });

  it("A-3: a web application that answers to everything has none", async () => {
    const page = textOf("text/html; charset=utf-8", "<!doctype html>");
    mcp.places = { [`${RESOURCE}/mcp`]: page, [RESOURCE]: page, [OAUTH]: page, [OPENID]: 404 };
    await expect(findServer(await findResource())).rejects.toMatchObject({ code: "oauth_discovery_failed" });
    mcp.places = { ...mcp.places, [OPENID]: serverOf(mcp.origin) };
    await expect(findServer(await findResource())).resolves.toMatchObject({ source: "document" });
  });

  it("A-3: with an authorization server that is configured, that one's issuer counts, and no default does", async () => {
    const issuer = `${as.origin}/tenant1`;
    const resource = await findResource();
    await expect(discoverServer(requester, issuer, resource)).rejects.toMatchObject({ code: "oauth_discovery_failed" });
    as.places = { [`${OAUTH}/tenant1`]: serverOf(issuer) };
    await expect(discoverServer(requester, issuer, resource)).resolves.toMatchObject({ metadata: { issuer } });
    as.places = { [`${OAUTH}/tenant1`]: serverOf(as.origin) };
    await expect(discoverServer(requester, issuer, resource)).rejects.toMatchObject({ code: "oauth_invalid" });
  });
});
