import type { LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { discoverResource, discoverServer } from "../../../src/oauth/discovery/index.js";
import type { OAuthTransportOptions } from "../../../src/oauth/oauth-options.js";
import type { ProtectedResource } from "../../../src/oauth/protected-resource.js";
import { createRequester, resolveRequester } from "../../../src/oauth/requests/index.js";
import { AUTHORITY } from "../../support/certificates.js";
import { ConnectProxy } from "../../support/connect-proxy.js";
import { FakeClock } from "../../support/fake-clock.js";
import { Places, redirectTo } from "./places.js";

const open: { close(): unknown }[] = [];
/** What must not be reached: services of this machine, over http and https. */
let plain: Places;
let secure: Places;

beforeEach(async () => {
  plain = await Places.start("http");
  secure = await Places.start("https");
  open.push(plain, secure);
});

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

/** Names, and the addresses that they stand for. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "private.test": ["10.0.0.1"],
  "link.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:10.0.0.1"],
  "mapped-loop.test": ["::ffff:127.0.0.1"],
  "unique.test": ["fd00::1"],
  "nat.test": ["64:ff9b::a00:1"],
  "loop.test": ["127.0.0.1"],
  "any.test": ["0.0.0.0"],
  "mixed.test": ["93.184.216.34", "127.0.0.1"],
  "empty.test": [],
  "mcp.test": ["127.0.0.1"],
  localhost: ["127.0.0.1"],
  "localhost.": ["127.0.0.1"],
};

const lookup: LookupFunction = (name, _options, callback) => {
  const found = NAMES[name];
  if (found === undefined) callback(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }), []);
  else
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
};

async function requesterFor(
  endpoint: string,
  options: Pick<OAuthTransportOptions, "allowPrivateAddresses" | "lookup" | "proxy"> = {},
) {
  const transport = { ca: AUTHORITY, lookup, ...options };
  const requester = createRequester(await resolveRequester(new URL(endpoint), transport, new FakeClock()));
  open.push(requester);
  return requester;
}

const REFUSED_ADDRESS = {
  code: "connect_failed",
  delivery: "not_sent",
  details: { reason: "ERR_ADDRESS_REFUSED", lasting: true },
};
const REFUSED_URL = { code: "invalid_url", delivery: "not_sent" };

/** URLs that the metadata of a server elsewhere leads to. Ports: those of the services above. */
const ROWS: readonly (readonly [what: string, url: string, failure: object])[] = [
  ["a private address", "https://10.0.0.1/", REFUSED_ADDRESS],
  ["another", "https://172.16.0.1/", REFUSED_ADDRESS],
  ["another", "https://192.168.1.1:SECURE/", REFUSED_ADDRESS],
  ["a shared address", "https://100.64.0.1/", REFUSED_ADDRESS],
  ["a cloud's metadata", "https://169.254.169.254/latest/meta-data", REFUSED_ADDRESS],
  ["a cloud's metadata over http", "http://169.254.169.254/latest/meta-data", REFUSED_URL],
  ["this host", "https://0.0.0.0:SECURE/", REFUSED_ADDRESS],
  ["an IPv4 address in IPv6", "https://[::ffff:10.0.0.1]/", REFUSED_ADDRESS],
  ["loopback in IPv6", "https://[::ffff:127.0.0.1]:SECURE/", REFUSED_ADDRESS],
  ["loopback through NAT64", "https://[64:ff9b::7f00:1]:SECURE/", REFUSED_ADDRESS],
  ["a unique local address", "https://[fd00::1]/", REFUSED_ADDRESS],
  ["a link-local address", "https://[fe80::1]/", REFUSED_ADDRESS],
  ["a name for a private address", "https://private.test/", REFUSED_ADDRESS],
  ["a name for a cloud's metadata", "https://link.test/", REFUSED_ADDRESS],
  ["a name for IPv4 in IPv6", "https://mapped.test/", REFUSED_ADDRESS],
  ["a name for loopback in IPv6", "https://mapped-loop.test:SECURE/", REFUSED_ADDRESS],
  ["a name for a unique local address", "https://unique.test/", REFUSED_ADDRESS],
  ["a name for NAT64 of a private address", "https://nat.test/", REFUSED_ADDRESS],
  ["a name for loopback", "https://loop.test:SECURE/", REFUSED_ADDRESS],
  ["a name for this host", "https://any.test:SECURE/", REFUSED_ADDRESS],
  ["a name for a public address and loopback", "https://mixed.test:SECURE/", REFUSED_ADDRESS],
  ["a name for nothing", "https://empty.test/", REFUSED_ADDRESS],
  ["localhost with a dot", "https://localhost.:SECURE/", REFUSED_ADDRESS],
  ["localhost below it", "https://a.localhost:SECURE/", REFUSED_ADDRESS],
  ["IPv4 at the end of IPv6", "https://[::10.0.0.1]/", REFUSED_ADDRESS],
  ["a private address by 6to4", "https://[2002:a00:1::]/", REFUSED_ADDRESS],
  ["no address of IPv6", "https://[::]:SECURE/", REFUSED_ADDRESS],
  ["a private address as a number", "https://0xa000001/", REFUSED_ADDRESS],
  ["a private address with a dot", "https://10.0.0.1./", REFUSED_ADDRESS],
  ["a zone of IPv6", "https://[fe80::1%25lo]/", REFUSED_URL],
  ["loopback by backslashes", "https:\\\\127.0.0.1:SECURE\\@public.test/", REFUSED_URL],
  ["loopback in wide digits", "https://１２７.0.0.1:SECURE/", REFUSED_URL],
  ["loopback", "https://127.0.0.1:SECURE/", REFUSED_URL],
  ["loopback by name", "https://localhost:SECURE/", REFUSED_URL],
  ["loopback as a number", "https://2130706433:SECURE/", REFUSED_URL],
  ["loopback, shortened", "https://127.1:SECURE/", REFUSED_URL],
  ["loopback in octal", "https://0177.0.0.1:SECURE/", REFUSED_URL],
  ["loopback of IPv6", "https://[::1]:SECURE/", REFUSED_URL],
  ["http on loopback", "http://127.0.0.1:PLAIN/", REFUSED_URL],
  ["http on localhost", "http://localhost:PLAIN/", REFUSED_URL],
  ["http", "http://mcp.test:PLAIN/", REFUSED_URL],
  ["a script", "javascript:alert(1)", REFUSED_URL],
  ["data", "data:application/json,{}", REFUSED_URL],
  ["a file", "file:///etc/passwd", REFUSED_URL],
  ["a blob", "blob:https://127.0.0.1:SECURE/1", REFUSED_URL],
  ["ftp", "ftp://127.0.0.1:PLAIN/", REFUSED_URL],
  ["userinfo", "https://public.test@127.0.0.1:SECURE/", REFUSED_URL],
];

const withPorts = (url: string): string =>
  url.replace("SECURE", String(secure.port)).replace("PLAIN", String(plain.port));

function expectNothingReached(): void {
  expect([plain.connections, secure.connections]).toEqual([0, 0]);
}

describe("an MCP server elsewhere", () => {
  it.each(ROWS)("A-11: can't lead to %s: %s", async (_what, row, failure) => {
    const url = withPorts(row);
    const requester = await requesterFor("https://public.test/mcp");
    await expect(requester.get(url)).rejects.toMatchObject(failure);
    const post = { url, contentType: "application/json", body: "{}" } as const;
    await expect(requester.post(post)).rejects.toMatchObject(failure);
    expectNothingReached();
  });

  it.each(ROWS)(
    "A-11: with allowPrivateAddresses and a public address of its own, neither to %s: %s",
    async (_what, row, failure) => {
      const requester = await requesterFor("https://93.184.216.34/mcp", { allowPrivateAddresses: true });
      await expect(requester.get(withPorts(row))).rejects.toMatchObject(failure);
      expectNothingReached();
    },
  );

  it.each(ROWS.filter(([what]) => !what.startsWith("a name for")))(
    "A-11: can't lead through a proxy to %s: %s",
    async (_what, row, failure) => {
      const proxy = await ConnectProxy.start({ status: 502 });
      open.push(proxy);
      const url = withPorts(row);
      const requester = await requesterFor("https://public.test/mcp", { proxy: { url: proxy.url } });
      await expect(requester.get(url)).rejects.toMatchObject(failure);
      const post = { url, contentType: "application/json", body: "{}" } as const;
      await expect(requester.post(post)).rejects.toMatchObject(failure);
      expect(proxy.tunnels).toEqual([]);
      expectNothingReached();
    },
  );

  it.each([
    ["http://169.254.169.254/", "oauth_invalid"],
    ["https://169.254.169.254/", "connect_failed"],
    ["https://[::ffff:10.0.0.1]", "connect_failed"],
    ["https://loop.test:SECURE", "connect_failed"],
    ["https://private.test/tenant", "connect_failed"],
    ["https://127.0.0.1:SECURE", "invalid_url"],
    ["http://127.0.0.1:PLAIN", "invalid_url"],
    ["javascript:alert(1)", "oauth_invalid"],
    ["data:application/json,{}", "oauth_invalid"],
    ["file:///etc/passwd", "oauth_invalid"],
    ["not a URL", "oauth_invalid"],
  ])("A-11: can't lead to an authorization server at %s: %s", async (issuer, code) => {
    const resource: ProtectedResource = {
      resource: "https://public.test",
      source: "https://public.test/.well-known/oauth-protected-resource",
      authorizationServers: [withPorts(issuer)],
      scopesSupported: undefined,
      needsDpop: false,
    };
    const requester = await requesterFor("https://public.test/mcp");
    await expect(discoverServer(requester, withPorts(issuer), resource)).rejects.toMatchObject({ code });
    expectNothingReached();
  });

  it.each(["https://loop.test:SECURE/m", "https://10.0.0.1/m"])(
    "A-11: can't lead to metadata at %s by its challenge",
    async (candidate) => {
      const challenge = {
        schemes: new Set(["bearer"] as const),
        resourceMetadata: [withPorts(candidate)],
        scope: undefined,
        error: undefined,
      };
      const requester = await requesterFor("https://public.test/mcp");
      const search = discoverResource(requester, new URL("https://public.test/mcp"), challenge);
      await expect(search).rejects.toMatchObject(REFUSED_ADDRESS);
      expectNothingReached();
    },
  );
});

describe("an MCP server on loopback", () => {
  it("A-11: may lead to loopback, over http and https, by any name", async () => {
    const requester = await requesterFor("http://127.0.0.1:3000/mcp");
    for (const origin of [plain.origin, plain.originAt("127.0.0.1"), secure.origin, secure.originAt("mcp.test")]) {
      await expect(requester.get(`${origin}/x`)).resolves.toMatchObject({ status: 404 });
    }
  });

  it.each(ROWS.filter(([what, url]) => !/loopback|localhost/.test(what) || url.includes("ff")))(
    "A-11: can't lead to %s: %s",
    async (_what, row, failure) => {
      const requester = await requesterFor("http://localhost:3000/mcp");
      await expect(requester.get(withPorts(row))).rejects.toMatchObject(failure);
      expectNothingReached();
    },
  );

  it.each([
    "https://169.254.169.254/latest",
    "http://169.254.169.254/latest",
    "http://10.0.0.1/",
    "https://loop.test:SECURE/",
    "http://127.0.0.1:PLAIN/",
    "http://localhost:PLAIN/",
    "https://other.test/",
    "javascript:alert(1)",
    "data:application/json,{}",
    "file:///etc/passwd",
  ])("A-11: can't lead to %s by a redirect", async (location) => {
    const first = await Places.start();
    open.push(first);
    first.places = { "/m": redirectTo(withPorts(location)), "/h": redirectTo("/m") };
    const requester = await requesterFor(`${first.origin}/mcp`);
    for (const path of ["/m", "/h"]) {
      await expect(requester.get(first.origin + path)).rejects.toMatchObject({ code: "redirect_refused" });
    }
    expectNothingReached();
  });

  it("A-11: https is never left for http by a redirect", async () => {
    secure.places = { "/m": redirectTo(`${plain.originAt("mcp.test")}/m`), "/l": redirectTo(`${plain.origin}/m`) };
    const requester = await requesterFor(`${plain.origin}/mcp`);
    for (const url of [`${secure.originAt("mcp.test")}/m`, `${secure.origin}/l`]) {
      await expect(requester.get(url)).rejects.toMatchObject({ code: "redirect_refused" });
    }
    expect(plain.connections).toBe(0);
  });

  it("A-11: a name that stands for another address the next time is looked at again, and once for a connection", async () => {
    const answers = ["127.0.0.1", "10.0.0.1"];
    let asked = 0;
    const rebinding: LookupFunction = (_name, _options, callback) => {
      const address = answers[asked] ?? "10.0.0.1";
      asked += 1;
      callback(null, [{ address, family: 4 }]);
    };
    secure.places = { "/m": (_request, response) => response.writeHead(200, { Connection: "close" }).end("{}") };
    const requester = await requesterFor("http://localhost:3000/mcp", { lookup: rebinding });
    const url = `${secure.originAt("mcp.test")}/m`;
    await expect(requester.get(url)).resolves.toMatchObject({ status: 200 });
    expect(asked).toBe(1);
    await expect(requester.get(url)).rejects.toMatchObject(REFUSED_ADDRESS);
    expect(secure.visits).toHaveLength(1);
  });

  it("A-11: a redirect of a name that stands for another address meanwhile is refused at its hop", async () => {
    let asked = 0;
    const rebinding: LookupFunction = (_name, _options, callback) => {
      asked += 1;
      callback(null, [{ address: asked === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }]);
    };
    secure.places = {
      "/m": (_request, response) => response.writeHead(302, { Location: "/latest", Connection: "close" }).end(),
    };
    const requester = await requesterFor("http://localhost:3000/mcp", { lookup: rebinding });
    await expect(requester.get(`${secure.originAt("mcp.test")}/m`)).rejects.toMatchObject(REFUSED_ADDRESS);
    expect(secure.asked).toEqual(["/m"]);
  });
});

describe("an MCP server in a private network", () => {
  it("A-11: leads there only by the option, and to loopback by no URL that says so", async () => {
    // The network is played by this machine: the name stands for a private address while the server is looked at.
    let asked = 0;
    const changing: LookupFunction = (_name, _options, callback) => {
      asked += 1;
      callback(null, [{ address: asked === 1 ? "10.0.0.1" : "127.0.0.1", family: 4 }]);
    };
    const url = `${secure.originAt("mcp.test")}/m`;
    const free = await requesterFor("https://mcp.test/mcp", { allowPrivateAddresses: true, lookup: changing });
    await expect(free.get(url)).resolves.toMatchObject({ status: 404 });
    await expect(free.get(`${secure.origin}/m`)).rejects.toMatchObject(REFUSED_URL);
    await expect(free.get(`${plain.origin}/m`)).rejects.toMatchObject(REFUSED_URL);
    await expect(free.get(`${secure.originAt("localhost.")}/m`)).rejects.toMatchObject(REFUSED_ADDRESS);
    const guarded = await requesterFor("https://mcp.test/mcp");
    await expect(guarded.get(url)).rejects.toMatchObject(REFUSED_ADDRESS);
    expect(secure.visits).toHaveLength(1);
  });
});
