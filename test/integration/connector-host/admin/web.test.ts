import { afterEach, describe, expect, it } from "vitest";
import { AdminWeb } from "../../../../src/connector-host/admin-web/index.js";
import type { ConnectorHost } from "../../../../src/connector-host/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { agentOf, HostParties } from "../host-parties.js";
import { adminHost, ask, type RawAsk } from "./admin-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

/** A person's browser, which has opened a link: what it has got by that, and how it asks. */
async function browser(host: ConnectorHost) {
  const { url } = await host.adminLink();
  const opened = await ask(new URL(url), {});
  expect(opened.status).toBe(200);
  const { origin } = new URL(url);
  const setCookie = String(opened.headers["set-cookie"]);
  const cookie = setCookie.split(";")[0] ?? "";
  const key = /#key=([\w-]+)/.exec(opened.text)?.[1] ?? "";
  const own = { Origin: origin, Cookie: cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json" };
  const page = (headers: Record<string, string> = { Cookie: cookie }) => ask(new URL("/admin", origin), { headers });
  const verb = async (name: string, params: object, more: RawAsk = {}) => {
    const headers = { ...own, "Connector-Admin-Key": key, ...more.headers };
    const answer = await ask(new URL(`/admin/api/${name}`, origin), {
      method: "POST",
      body: JSON.stringify({ params }),
      ...more,
      headers,
    });
    const parsed: { result?: unknown; error?: { code?: string; reason?: string } } = JSON.parse(answer.text);
    return { status: answer.status, ...parsed };
  };
  return { url, origin, setCookie, cookie, key, opened, own, page, verb };
}

/** The headers without one. */
function without(headers: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));
}

describe("H-33: the admin plane in a browser", () => {
  it("H-33: a link opens a session behind an HttpOnly, SameSite=Strict cookie, which shows the status page", async () => {
    const { host } = await adminHost(parties);
    const { url, setCookie, opened, page } = await browser(host);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/admin\?link=[\w-]{43}$/);
    expect(new URL(url).port).not.toBe(new URL(host.url).port);
    expect(setCookie).toMatch(
      new RegExp(`^connector-admin-${new URL(url).port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/admin$`),
    );
    const { status, headers, text } = await page();
    expect(status).toBe(200);
    expect(text).toContain('<th scope="row">a</th><td>ready</td>');
    for (const answer of [opened.headers, headers]) {
      expect(answer).toMatchObject({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "content-security-policy": expect.stringContaining("default-src 'none'"),
      });
      expect(answer["access-control-allow-origin"]).toBeUndefined();
    }
  });

  it("H-33: a link opens nothing a second time, nor when it was guessed", async () => {
    const { host } = await adminHost(parties);
    const { url, origin } = await browser(host);
    for (const link of [url, `${origin}/admin?link=${"A".repeat(43)}`, `${origin}/admin?link=`]) {
      const answer = await ask(new URL(link), {});
      expect(answer.status).toBe(403);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
  });

  it("H-33: a browser that looks ahead, and a HEAD, take nothing of a link", async () => {
    const { host } = await adminHost(parties);
    const { url } = await host.adminLink();
    expect((await ask(new URL(url), { headers: { "Sec-Purpose": "prefetch" } })).status).toBe(403);
    expect((await ask(new URL(url), { method: "HEAD" })).status).toBe(405);
    expect((await ask(new URL(url), {})).status).toBe(200);
  });

  it("H-33: a session with its key may do what the control socket may, and needs no other word", async () => {
    const { host } = await adminHost(parties);
    const { verb } = await browser(host);
    expect(await verb("set-permission", { connectorKey: "a", nativeName: "drop", permission: "off" })).toMatchObject({
      status: 200,
      result: null,
    });
    expect(await verb("set-permission", { connectorKey: "a", nativeName: "drop", permission: "allow" })).toMatchObject({
      status: 200,
    });
    expect(host.connectors.permissions("a").permissions).toEqual({ drop: "allow" });
    expect(await verb("test-call", { connectorKey: "a", nativeName: "drop" })).toMatchObject({
      result: { delivery: "answered" },
    });
    expect(await verb("view", {})).toMatchObject({ result: { connectors: [{ connectorKey: "a" }] } });
    expect(await verb("permissions", { connectorKey: "b" })).toMatchObject({
      status: 404,
      error: { code: "unknown_connector" },
    });
    // No link by a session: it would outlive what it was opened for.
    expect((await verb("link", {})).status).toBe(404);
  });

  it("H-33: without a session, its key, or a page of this very origin nothing is told or done", async () => {
    const { host } = await adminHost(parties);
    const { cookie, key, own, page, verb } = await browser(host);
    const other = await browser(host);
    const change = { connectorKey: "a", enabled: false };
    const tried = async (more: RawAsk["headers"]) => {
      const { status, error } = await verb("set-enabled", change, { headers: { ...more } });
      return `${String(status)} ${error?.reason ?? ""}`;
    };
    expect(await tried({ Cookie: "" })).toBe("401 no_session");
    expect(await tried({ Cookie: `${cookie}x` })).toBe("401 no_session");
    expect(await tried({ "Connector-Admin-Key": "" })).toBe("403 key_refused");
    expect(await tried({ "Connector-Admin-Key": other.key })).toBe("403 key_refused");
    expect(await tried({ "Connector-Admin-Key": cookie.split("=")[1] ?? "" })).toBe("403 key_refused");
    expect(await tried({ Origin: "http://evil.example", "Sec-Fetch-Site": "cross-site" })).toBe("403 origin_refused");
    expect(await tried({ Origin: new URL(host.url).origin, "Sec-Fetch-Site": "same-site" })).toBe("403 origin_refused");
    expect(await tried({ Host: "evil.example" })).toBe("403 host_refused");
    expect(await tried({ "Content-Type": "text/plain" })).toBe("415 not_json");
    const bare = await ask(new URL("/admin/api/set-enabled", other.origin), {
      method: "POST",
      headers: { ...without(without(own, "Origin"), "Sec-Fetch-Site"), "Connector-Admin-Key": key },
      body: JSON.stringify({ params: change }),
    });
    expect(bare.status).toBe(403);
    // Without any key at all, from the right page.
    const keyless = await ask(new URL("/admin/api/set-enabled", other.origin), {
      method: "POST",
      headers: own,
      body: JSON.stringify({ params: change }),
    });
    expect([keyless.status, keyless.text]).toEqual([403, '{"error":{"reason":"key_refused"}}']);
    expect(host.connectors.list()[0]?.enabled).toBe(true);
    expect((await page({})).status).toBe(401);
    expect((await page({ Cookie: cookie, Host: "evil.example" })).status).toBe(403);
  });

  it("H-33, H-20: an agent's bearer opens nothing of it, and its cookie means nothing to agents' endpoint", async () => {
    const { host } = await adminHost(parties);
    const { cookie, key, origin, own } = await browser(host);
    const { url, headers } = host.bind({ workspaceId: "w", agentSessionId: "s" });
    const body = '{"params":{}}';
    for (const path of ["/admin", "/admin/api/view", "/admin/api/set-enabled", "/admin/logout"]) {
      const method = path === "/admin" ? "GET" : "POST";
      const more = { ...own, ...headers, "Connector-Admin-Key": key };
      const bearer = { method, ...(method === "POST" && { body }) };
      expect((await ask(new URL(path, origin), { ...bearer, headers })).status).toBe(403);
      expect((await ask(new URL(path, origin), { ...bearer, headers: more })).status).toBe(403);
      // At the agents' own server there is no such path.
      expect((await ask(new URL(path, url), { ...bearer, headers })).status).toBe(404);
      expect((await ask(new URL(path, url), { ...bearer, headers: { Cookie: cookie } })).status).toBe(404);
    }
    const call = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const atAgents = await ask(new URL(url), {
      method: "POST",
      headers: { "Content-Type": "application/json", Cookie: cookie, "Connector-Admin-Key": key },
      body: JSON.stringify(call),
    });
    expect(atAgents.status).toBe(401);
    expect((await agentOf(host).list()).names).toEqual(["a_drop", "a_read"]);
  });

  it("H-33: neither a link, nor what it gives, is in a log or in a failure; bodies are bounded", async () => {
    const logged: unknown[] = [];
    const log = (...said: unknown[]): void => void logged.push(said);
    const logger = { debug: log, info: log, warn: log, error: log };
    const { host } = await adminHost(parties, { logger });
    const { url, origin, cookie, key, own, page, verb } = await browser(host);
    const token = new URL(url).searchParams.get("link") ?? "";
    const told = [(await ask(new URL(url), {})).text, (await page()).text];
    told.push(JSON.stringify([await verb("view", {}), await verb("permissions", { connectorKey: "b" })]));
    const keyed = { ...own, "Connector-Admin-Key": key };
    const large = { method: "POST", headers: keyed, body: "x".repeat(2 * 1024 * 1024 + 1) };
    expect((await ask(new URL("/admin/api/view", origin), large)).status).toBe(413);
    const other = { method: "POST", headers: keyed, body: "x".repeat(4_097) };
    for (const path of ["/admin", "/admin/logout", "/admin/api/link", "/"]) {
      const answer = await ask(new URL(path, origin), other);
      expect([answer.status, answer.headers["connection"]]).toEqual([413, "close"]);
    }
    // Only the answer to a link says what it gives.
    for (const secret of [token, cookie.split("=")[1] ?? "", key]) {
      expect(secret).toHaveLength(43);
      expect(JSON.stringify(logged)).not.toContain(secret);
      expect(told.join("")).not.toContain(secret);
    }
  });

  it("H-33: a session ends when its person ends it, and with the host", async () => {
    const { host } = await adminHost(parties);
    const first = await browser(host);
    const second = await browser(host);
    const out = await ask(new URL("/admin/logout", first.origin), {
      method: "POST",
      headers: { Cookie: first.cookie, Origin: "null", "Sec-Fetch-Site": "same-origin" },
    });
    expect(out.status).toBe(200);
    expect(String(out.headers["set-cookie"])).toContain("Max-Age=0");
    expect((await first.page()).status).toBe(401);
    expect((await first.verb("view", {})).status).toBe(401);
    expect((await second.page()).status).toBe(200);
    const { url: unopened } = await host.adminLink();
    await host.close();
    await expect(second.page()).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await expect(ask(new URL(unopened), {})).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await expect(host.adminLink()).rejects.toMatchObject({ code: "cancelled" });
  });

  it("H-33: nothing listens before the first link, nor once the last link and session are over", async () => {
    const { host } = await adminHost(parties);
    const clock = new FakeClock();
    const faults: unknown[] = [];
    const web = new AdminWeb({
      plane: () => host.admin,
      clock,
      wallClock: { now: () => 1_000 },
      onFault: (error) => faults.push(error),
    });
    parties.opened.push(web);
    const unopened = await web.open();
    expect(unopened.expiresAt).toBe(121_000);
    await clock.advance(119_999);
    const { url } = await web.open();
    const opened = await ask(new URL(url), {});
    expect(opened.status).toBe(200);
    await clock.advance(1);
    expect((await ask(new URL(unopened.url), {})).status).toBe(403);
    await clock.advance(30 * 60_000);
    await expect
      .poll(() => ask(new URL("/admin", url), {}).catch((error: { code: string }) => error.code))
      .toBe("ECONNREFUSED");
    const again = await web.open();
    expect((await ask(new URL(again.url), {})).status).toBe(200);
    await web.close();
    await web.close();
    expect(faults).toEqual([]);
  });
});
