import { afterEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { FakeClock } from "../../support/fake-clock.js";
import { call, callbackOf, openClient, openWorld, type OAuthWorld, startProgram } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

const REDIRECT = "https://app.test/callback";
const UNKNOWN = { code: "oauth_invalid", details: { subject: "callback", member: "state" } };

/** A client that is known to the authorization server, and nobody who is asked. */
async function openKnown(options: Parameters<typeof startProgram>[2] = {}) {
  const clients = [{ clientId: "known", redirectUris: [REDIRECT] }];
  const world = await openWorld(opened, { issuer: { clients }, server: { challengeScopes: ["read"] } });
  const identity = { preRegistered: [{ clientId: "known", redirectUris: [REDIRECT] }] };
  const program = startProgram(opened, world, { openUrl: false, identity, ...options });
  return { world, program, client: openClient(opened, world.server, program.oauth) };
}

async function urlOf(calling: Promise<unknown>): Promise<string> {
  const error = await calling.catch((reason: unknown) => reason);
  const url = isRemoteConnectorError(error, "sign_in_required") ? error.details.authorizationUrl : undefined;
  if (url === undefined) throw new Error("There is no URL.");
  return url;
}

function callTool({ server }: OAuthWorld, oauth: Parameters<typeof openClient>[2]): Promise<unknown> {
  return openClient(opened, server, oauth).callTool({ name: "read", arguments: {} });
}

describe("a sign-in that somebody else ends", () => {
  it("A-8: the URL of a call that nobody was asked for leads to tokens", async () => {
    const { client, program, world } = await openKnown();
    const url = await urlOf(callTool(world, program.oauth));
    // A program that calls again and again does not make one each time.
    expect(await urlOf(callTool(world, program.oauth))).toBe(url);

    const callback = await callbackOf(url);
    const account = await program.oauth.finishSignIn(callback);

    expect(account).toMatchObject({ account: "", endpoint: world.server.url, scopes: ["read"], clientId: "known" });
    expect(await call(client)).toBe("read");
    await expect(program.oauth.finishSignIn(callback)).rejects.toMatchObject(UNKNOWN);
  });

  it("A-5: by the path alone, as web servers have it, and of the account that it was begun for", async () => {
    const { program, world } = await openKnown();
    const started = await program.oauth.startSignIn(world.server.url, REDIRECT, { account: "work" });
    const { pathname, search } = new URL(await callbackOf(started.url));
    expect(await program.oauth.finishSignIn(`${pathname}${search}`)).toMatchObject({ account: "work" });
    await expect(started.finish(`${pathname}${search}`)).rejects.toMatchObject({ code: "cancelled" });
  });

  it("A-5: a state that is not known, is missing or comes twice ends nothing, and is not shown", async () => {
    const { program, world } = await openKnown();
    const started = await program.oauth.startSignIn(world.server.url, REDIRECT);
    const callback = new URL(await callbackOf(started.url));
    const state = callback.searchParams.get("state") ?? "";
    for (const search of ["?code=c", "?code=c&state=guess", `?code=c&state=${state}&state=${state}`]) {
      const error = await program.oauth.finishSignIn(`${REDIRECT}${search}`).catch((reason: unknown) => reason);
      expect(error).toMatchObject(UNKNOWN);
    }
    const unreadable = await program.oauth.finishSignIn("http://[:secret-code").catch((reason: unknown) => reason);
    expect(unreadable).toMatchObject({ code: "oauth_invalid", details: { subject: "callback" } });
    expect(JSON.stringify(unreadable) + String(unreadable)).not.toContain("secret-code");
    expect(await program.oauth.finishSignIn(callback)).toMatchObject({ account: "" });
  });

  it("A-5: an answer of another issuer is refused, and not tried again", async () => {
    const { program, world } = await openKnown();
    const started = await program.oauth.startSignIn(world.server.url, REDIRECT);
    const callback = new URL(await callbackOf(started.url));
    callback.searchParams.set("iss", "https://other.test");
    await expect(program.oauth.finishSignIn(callback)).rejects.toMatchObject({
      code: "oauth_invalid",
      details: { member: "iss" },
    });
    await expect(program.oauth.finishSignIn(callback)).rejects.toMatchObject(UNKNOWN);
  });

  it("A-5: ends after signInTimeoutMs, when it is given up, and when everything is closed", async () => {
    const clock = new FakeClock();
    const { program, world } = await openKnown({ clock, signInTimeoutMs: 1_000 });
    const [late, cancelled, closed] = [
      await program.oauth.startSignIn(world.server.url, REDIRECT),
      await program.oauth.startSignIn(world.server.url, REDIRECT),
      await program.oauth.startSignIn(world.server.url, REDIRECT),
    ];
    cancelled.cancel();
    await expect(program.oauth.finishSignIn(await callbackOf(cancelled.url))).rejects.toMatchObject(UNKNOWN);
    const callback = await callbackOf(late.url);
    clock.step(1_000);
    await expect(program.oauth.finishSignIn(callback)).rejects.toMatchObject(UNKNOWN);
    await expect(late.finish(callback)).rejects.toMatchObject({ code: "timeout" });
    await program.oauth.close();
    await expect(program.oauth.finishSignIn(callback)).rejects.toMatchObject({ code: "cancelled" });
    await expect(closed.finish(callback)).rejects.toMatchObject({ code: "timeout" });
  });

  it("A-5: is ended although its account's session made room for others meanwhile", async () => {
    const { program, world } = await openKnown();
    const started = await program.oauth.startSignIn(world.server.url, REDIRECT, { account: "first" });
    const request = { url: world.server.url, method: "x", httpMethod: "POST", attempt: 1, operation: {} } as const;
    for (let each = 0; each < 300; each += 1) await program.oauth.account(String(each)).authorize(request);
    expect(await started.finish(await callbackOf(started.url))).toMatchObject({ account: "first" });
  });

  it("A-4: without a place for the browser there is no URL, and nothing is registered", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world, { openUrl: false });
    const error = await callTool(world, program.oauth).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "sign_in_required", details: { authorizationUrl: undefined } });
    expect(world.issuer.clients).toEqual([]);
  });
});
