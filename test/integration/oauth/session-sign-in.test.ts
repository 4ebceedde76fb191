import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { call, callbackOf, openClient, openWorld, startProgram } from "../../support/oauth-world.js";
import { Opened } from "../../support/opened.js";

const opened = new Opened();
afterEach(opened.close);

describe("signing in and out", () => {
  it("A-5: starts a sign-in whose browser others send, and ends it once", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    const started = await program.oauth.startSignIn(world.server.url, "https://app.test/callback", { account: "a" });
    const callback = await callbackOf(started.url);

    expect(await started.finish(callback)).toMatchObject({ account: "a", endpoint: world.server.url });
    await expect(started.finish(callback)).rejects.toMatchObject({ code: "cancelled" });
    expect(await call(openClient(opened, world.server, program.oauth.account("a", { asks: false })))).toBe("read");
    expect(await call(openClient(opened, world.server, program.oauth.account("b", { asks: false })))).toBe(
      "sign_in_required",
    );
    expect(program.visits).toHaveLength(0);
  });

  it("A-5: a registered port that is taken by now makes another registration", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    const place = new URL(world.issuer.clients[0]?.redirectUris[0] ?? "");
    await program.oauth.signIn(world.server.url);
    expect(world.issuer.clients).toHaveLength(1);

    const neighbour = createServer();
    await new Promise<void>((resolve) => neighbour.listen(Number(place.port), "127.0.0.1", resolve));
    opened.push(neighbour);
    await program.oauth.signIn(world.server.url);
    expect(world.issuer.clients).toHaveLength(2);
    expect(program.visits).toHaveLength(3);
  });

  it("A-5: a registration that is not known any more at the token endpoint is made anew, once", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    world.issuer.addFault({ endpoint: "token", kind: "error", error: "invalid_client" });
    await program.oauth.signIn(world.server.url);
    expect(world.issuer.clients).toHaveLength(2);
    expect(program.visits).toHaveLength(3);

    world.issuer.addFault({ endpoint: "token", kind: "error", error: "invalid_client", times: 2 });
    await expect(program.oauth.signIn(world.server.url)).rejects.toMatchObject({
      code: "oauth_refused",
      details: { errorCode: "invalid_client" },
    });
    expect(program.visits).toHaveLength(5);
  });

  it("A-5: a registration with which nobody came back is not used again", async () => {
    const world = await openWorld(opened);
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock, signInTimeoutMs: 1_000 });
    await program.oauth.signIn(world.server.url);
    world.issuer.forgetClient(world.issuer.clients[0]?.clientId ?? "");
    const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
    while (program.visits.length < 2) await settle();
    await clock.advance(1_000);
    expect(await signing).toMatchObject({ code: "timeout" });
    expect(await program.oauth.signIn(world.server.url)).toMatchObject({ clientId: world.issuer.clients[0]?.clientId });
  });

  it("A-7: a sign-in that nobody waits for any more is ended, and the next one begins anew", async () => {
    const world = await openWorld(opened, { issuer: { consent: "wait" } });
    const program = startProgram(opened, world);
    const abort = new AbortController();
    const signing = program.oauth.signIn(world.server.url, { signal: abort.signal }).catch((error: unknown) => error);
    while (program.visits.length === 0) await settle();
    abort.abort("given up");
    expect(await signing).toBe("given up");
    world.issuer.consent = "approve";
    expect(await program.oauth.signIn(world.server.url, { scopes: ["read"] })).toMatchObject({ scopes: ["read"] });
    expect(program.visits).toHaveLength(2);
  });

  it("A-7: signs out here and there, and requests go without a token from then on", async () => {
    const world = await openWorld(opened);
    const program = startProgram(opened, world);
    await program.oauth.signIn(world.server.url);
    const client = openClient(opened, world.server, program.oauth.account("", { asks: false }));
    expect(await call(client)).toBe("read");

    expect(await program.oauth.signOut(world.server.url)).toBe(true);

    expect(await call(client)).toBe("sign_in_required");
    expect(world.issuer.tokens.map(({ state }) => state)).toEqual(["revoked", "revoked"]);
    expect(await program.oauth.signOut(world.server.url)).toBe(false);
    expect(await program.oauth.accounts(world.server.url)).toEqual([]);
    expect(world.server.accesses.at(-1)?.authorization).toBeUndefined();
  });

  it("A-7: a person who takes too long", async () => {
    const world = await openWorld(opened, { issuer: { consent: "wait" } });
    const clock = new FakeClock();
    const program = startProgram(opened, world, { clock, signInTimeoutMs: 1_000 });
    const signing = program.oauth.signIn(world.server.url).catch((error: unknown) => error);
    while (program.visits.length === 0) await settle();
    await clock.advance(1_000);
    expect(await signing).toMatchObject({ code: "timeout", details: { option: "signInTimeoutMs", limitMs: 1_000 } });
  });

  it("A-7: what is under way ends when everything is closed", async () => {
    const world = await openWorld(opened, { issuer: { consent: "wait" } });
    const program = startProgram(opened, world);
    const client = openClient(opened, world.server, program.oauth);
    const calling = call(client);
    while (program.visits.length === 0) await settle();
    await program.oauth.close();
    expect(await calling).toBe("cancelled");
    expect(await call(client)).toBe("cancelled");
  });
});
