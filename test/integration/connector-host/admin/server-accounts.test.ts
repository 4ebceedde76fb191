import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connectToHost } from "../../../../src/connector-host/index.js";
import type { OAuthOptions } from "../../../../src/oauth/index.js";
import { Opened } from "../../../support/opened.js";
import { agentOf } from "../host-parties.js";
import { becomes, serverParty, stateFolder, worldOf } from "../server-oauth-parties.js";
import { ask } from "./admin-parties.js";

const opened = new Opened();
afterEach(opened.close);

const REQUIRED = { docs: "authorization_required" };
const READY = { docs: "ready" };
const JSON_BODY = { "Content-Type": "application/json" };

/** A host with a server that wants OAuth, and a connection of another process to it. */
async function reached(oauthOptions: Partial<OAuthOptions> = {}) {
  const stateDirectory = await stateFolder(opened);
  const party = await serverParty(opened, await worldOf(opened, "modern"), { stateDirectory }, oauthOptions);
  const questions: string[] = [];
  const connect = async () => {
    const connection = await connectToHost({
      stateDirectory,
      async confirm(question) {
        questions.push(question);
        return true;
      },
    });
    opened.push(connection);
    return connection;
  };
  const connection = await connect();
  await becomes(party.host, REQUIRED);
  return { ...party, stateDirectory, connection, connect, admin: connection.admin, questions };
}

describe("H-33, A-10: signing in to a server over the control socket", () => {
  it("H-33: another process has a person sign in, sees who is, and signs them out", async () => {
    const { admin, host, questions, world } = await reached();
    const docs = async () => (await admin.view()).connectors.find(({ connectorKey }) => connectorKey === "docs");
    expect(await docs()).not.toHaveProperty("signedIn");
    const { issuer } = world.issuer;
    expect(await admin.signInServer({ slug: "docs", scopes: ["read"] })).toEqual({
      account: "",
      endpoint: world.server.url,
      expiresAt: world.time.now + 3_600_000,
      issuer,
      scopes: ["read"],
    });
    await becomes(host, READY);
    expect(await docs()).toMatchObject({ signedIn: { account: "", issuer } });
    const text = JSON.stringify(await admin.view());
    for (const { token } of world.issuer.tokens) expect(text).not.toContain(token);
    expect(await admin.signOutServer("docs")).toBe(true);
    await becomes(host, REQUIRED);
    expect(await docs()).not.toHaveProperty("signedIn");
    expect(await admin.signOutServer("docs")).toBe(false);
    expect(questions).toEqual([]);
  });

  it("H-33: failures come back as they are", async () => {
    const { admin, host, world } = await reached();
    world.issuer.consent = "deny";
    await expect(admin.signInServer({ slug: "docs" })).rejects.toMatchObject({
      code: "oauth_refused",
      details: { step: "authorization", issuer: world.issuer.issuer, errorCode: "access_denied" },
    });
    await expect(admin.signInServer({ slug: "none" })).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(admin.signOutServer("none")).rejects.toMatchObject({ code: "unknown_connector" });
    await expect(admin.signInServer({ slug: "" })).rejects.toMatchObject({ code: "invalid_argument" });
    const scopes = Array.from({ length: 65 }, (_, index) => `s${String(index)}`);
    await expect(admin.signInServer({ slug: "docs", scopes })).rejects.toMatchObject({ code: "invalid_argument" });
    world.issuer.change({ metadata: { issuer: "https://other.example" } });
    await expect(admin.signInServer({ slug: "docs" })).rejects.toMatchObject({
      code: "oauth_invalid",
      details: { subject: "server_metadata", member: "issuer" },
    });
    await becomes(host, REQUIRED);
  });

  it("H-33: where nobody can be asked, the answer says what a person has to do, without the address", async () => {
    const { admin, world } = await reached({ openUrl: false });
    const error: unknown = await admin.signInServer({ slug: "docs" }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "sign_in_required",
      details: { endpoint: world.server.url, reason: "no_token", issuer: world.issuer.issuer, scopes: [] },
    });
    expect(error).not.toHaveProperty("details.authorizationUrl");
  });

  it("H-33: a sign-in ends when whoever asked for it goes, and with the host", async () => {
    const leaving = await reached();
    leaving.world.issuer.consent = "wait";
    const left = leaving.admin.signInServer({ slug: "docs" }).catch((error: unknown) => error);
    await expect.poll(() => leaving.visits.length).toBe(1);
    const callback = new URL(new URL(leaving.visits[0] ?? "").searchParams.get("redirect_uri") ?? "");
    await leaving.connection.close();
    expect(await left).toMatchObject({ code: "cancelled" });
    const isListening = () =>
      fetch(callback).then(
        () => true,
        () => false,
      );
    await expect.poll(isListening).toBe(false);
    const staying = await reached();
    staying.world.issuer.consent = "wait";
    const ended = staying.admin.signInServer({ slug: "docs" }).catch((error: unknown) => error);
    await expect.poll(() => staying.visits.length).toBe(1);
    await staying.host.close();
    expect(await ended).toMatchObject({ code: "cancelled", details: { reason: "host_closed" } });
  });

  it("H-33, H-20: an agent's bearer opens none of it, and the web plane has no sign-in", async () => {
    const { host, stateDirectory, visits } = await reached();
    const { headers } = host.bind({ workspaceId: "w", agentSessionId: "s" });
    const socketPath = join(stateDirectory, "control.sock");
    for (const verb of ["sign-in-server", "sign-out-server"]) {
      const body = '{"params":{"slug":"docs"}}';
      const path = `/v1/admin/${verb}`;
      const answer = await ask({ socketPath, path }, { method: "POST", headers: { ...JSON_BODY, ...headers }, body });
      expect([answer.status, answer.text]).toEqual([403, '{"error":{"reason":"bearer_refused"}}']);
    }
    expect((await agentOf(host).send("sign-in-server", { slug: "docs" })).text).toContain("-32601");
    const { url } = await host.adminLink();
    const page = await ask(new URL(url), {});
    const key = /#key=([\w-]+)/.exec(page.text)?.[1] ?? "";
    const { origin } = new URL(url);
    const own = {
      ...JSON_BODY,
      Origin: origin,
      Cookie: String(page.headers["set-cookie"]).split(";")[0] ?? "",
      "Sec-Fetch-Site": "same-origin",
      "Connector-Admin-Key": key,
    };
    const post = (verb: string) =>
      ask(new URL(`/admin/api/${verb}`, origin), { method: "POST", headers: own, body: '{"params":{"slug":"docs"}}' });
    expect((await post("sign-in-server")).status).toBe(404);
    expect((await post("sign-out-server")).status).toBe(200);
    expect(visits).toEqual([]);
  });
});
