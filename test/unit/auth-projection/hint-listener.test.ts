import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import {
  type AccountAuthorizer,
  type HintEvent,
  HintListener,
  type HintListenerOptions,
  type HintSocketOwner,
  type HintSocketRequest,
  LoginGuard,
} from "../../../src/auth-projection/index.js";
import type { HeaderMap } from "../../../src/transport/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { bytes } from "./bodies.js";
import { deferred } from "./deferred.js";

const CHANGED = { type: "connector.authorization.changed", payload: { revision: "7", connectorId: "github" } };

class Socket {
  readonly request: HintSocketRequest;
  readonly owner: HintSocketOwner;
  pings = 0;
  dropped = false;

  constructor(request: HintSocketRequest, owner: HintSocketOwner) {
    this.request = request;
    this.owner = owner;
  }

  ping(): void {
    this.pings += 1;
  }

  drop(): Promise<void> {
    this.dropped = true;
    return Promise.resolve();
  }
}

function setUp(options: Partial<HintListenerOptions> = {}, authorize: AccountAuthorizer["authorize"] = () => ({})) {
  const clock = new FakeClock();
  const logins = new LoginGuard({ authorize });
  const login = logins.signIn("acc");
  const sockets: Socket[] = [];
  const openedAt: number[] = [];
  const events: HintEvent[] = [];
  let wakes = 0;
  const listener = new HintListener({
    url: "wss://hints.example/?deviceId=d1",
    login,
    logins,
    clock,
    random: () => 0,
    onWake: () => (wakes += 1),
    onEvent: (event) => void events.push(event),
    openSocket(request, owner) {
      const socket = new Socket(request, owner);
      sockets.push(socket);
      openedAt.push(clock.now());
      return socket;
    },
    ...options,
  });
  const latest = (): Socket => sockets.at(-1)!;
  return { clock, events, latest, listener, login, logins, openedAt, sockets, wakes: () => wakes };
}

function openNothing(): never {
  throw new Error("A socket was opened.");
}

describe("P-9: the hint socket", () => {
  it("P-9: connects with the account's headers and a frame limit of 16 KiB; being open wakes", async () => {
    const { clock, events, latest, wakes } = setUp({}, () => ({ cookie: "session=1" }));
    await clock.advance(0);
    expect(latest().request).toMatchObject({ headers: { cookie: "session=1" }, maxFrameBytes: 16_384 });
    expect(latest().request.url.href).toBe("wss://hints.example/?deviceId=d1");
    expect(wakes()).toBe(0);
    latest().owner.onOpen();
    expect(wakes()).toBe(1);
    expect(events).toEqual([{ kind: "connected" }]);
  });

  it("P-9: a change wakes; other events and broken frames don't", async () => {
    const { clock, events, latest, wakes } = setUp();
    await clock.advance(0);
    latest().owner.onOpen();
    latest().owner.onFrame(bytes(CHANGED));
    latest().owner.onFrame(bytes({ type: "other" }));
    latest().owner.onFrame(bytes("{"));
    expect(wakes()).toBe(2);
    expect(events.slice(1)).toEqual([
      { kind: "hint", revision: 7n, connectorKey: "github" },
      { kind: "frame_ignored" },
    ]);
  });

  it.each([
    [0, [1, 2, 4, 8, 16, 32, 32, 32]],
    [1, [2, 4, 8, 16, 32, 64, 64, 64]],
  ])("P-9: reconnects from 1 s to 64 s (chance %i)", async (chance, seconds) => {
    const { clock, latest, openedAt } = setUp({ random: () => chance });
    await clock.advance(0);
    for (const each of seconds) {
      latest().owner.onClose("ECONNREFUSED");
      await clock.advance(each * 1_000);
    }
    expect(openedAt.slice(1).map((at, index) => (at - openedAt[index]!) / 1_000)).toEqual(seconds);
  });

  it("P-9 ★ item 14: begins again from 1 s after a connection that lived, not after one that was merely open", async () => {
    const { clock, events, latest } = setUp();
    await clock.advance(0);
    const delays: number[] = [];
    for (const lifeMs of [0, 9_999, 0, 10_000, 0]) {
      latest().owner.onOpen();
      await clock.advance(lifeMs);
      latest().owner.onClose("closed 1006");
      const lost = events.at(-1)!;
      const delayMs = lost.kind === "disconnected" ? lost.nextAttemptAt - clock.now() : NaN;
      delays.push(delayMs);
      await clock.advance(delayMs);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 1_000, 2_000]);
  });

  it("P-9 ★ item 14: a reconnect itself wakes", async () => {
    const { clock, latest, sockets, wakes } = setUp();
    await clock.advance(0);
    latest().owner.onOpen();
    latest().owner.onClose("closed 1001");
    await clock.advance(1_000);
    latest().owner.onOpen();
    expect([sockets.length, wakes()]).toEqual([2, 2]);
  });

  it("P-9 ★ item 14: a connection that answers no ping is given up, one that does is kept", async () => {
    const { clock, events, latest, sockets } = setUp();
    await clock.advance(0);
    const socket = latest();
    socket.owner.onOpen();
    for (let i = 1; i <= 10; i += 1) {
      await clock.advance(30_000);
      expect(socket.pings).toBe(i);
      if (i % 2 === 0) socket.owner.onPong();
      else socket.owner.onFrame(bytes({ type: "other" }));
    }
    expect(sockets).toHaveLength(1);
    await clock.advance(60_000);
    expect(socket.dropped).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: "disconnected", reason: "silent" });
  });

  it("P-9: a connection that does not come in 30 seconds is given up", async () => {
    const { clock, events, latest } = setUp();
    await clock.advance(30_000);
    expect(latest().dropped).toBe(true);
    expect(events).toMatchObject([{ kind: "disconnected", reason: "timeout" }]);
  });

  it("P-9: what an older connection still tells is ignored", async () => {
    const { clock, events, sockets, wakes } = setUp();
    await clock.advance(31_000);
    expect(sockets).toHaveLength(2);
    sockets[0]?.owner.onOpen();
    sockets[0]?.owner.onFrame(bytes(CHANGED));
    sockets[0]?.owner.onClose("late");
    expect([events.length, wakes()]).toEqual([1, 0]);
    sockets[1]?.owner.onOpen();
    expect(wakes()).toBe(1);
  });

  it("P-9: an account without credentials connects later, not without them", async () => {
    let headers: Record<string, string> | undefined;
    const { clock, events, sockets } = setUp({}, () => headers);
    await clock.advance(0);
    expect(events).toMatchObject([{ kind: "disconnected", reason: "not authorized" }]);
    headers = { cookie: "c" };
    await clock.advance(1_000);
    expect(sockets).toHaveLength(1);
  });

  it("P-9: a header that can't be sent ends the attempt", async () => {
    const { clock, events, sockets } = setUp({}, () => ({ cookie: "a\r\nb: c" }));
    await clock.advance(0);
    expect(events).toMatchObject([{ kind: "disconnected", reason: "invalid header" }]);
    expect(sockets).toEqual([]);
  });

  it.each([
    ["ws://hints.example/"],
    ["https://hints.example/"],
    ["wss://user:pass@hints.example/"],
    ["wss://hints.example/#x"],
    ["wss://hints.example/#"],
    ["ws://127.0.0.1.example/"],
    ["hints"],
  ])("P-9 ★ item 14: the URL %s is refused", (url) => {
    expect(() => setUp({ url })).toThrow(expect.objectContaining({ code: "invalid_url" }));
  });

  it.each([["wss://hints.example/"], ["ws://127.0.0.1:9/"], ["ws://localhost/x"], ["ws://[::1]/"]])(
    "P-9: the URL %s is taken",
    async (url) => {
      const { clock, latest } = setUp({ url });
      await clock.advance(0);
      expect(latest().request.url.href).toBe(url);
    },
  );
});

describe("P-8: the end of listening", () => {
  it("P-8: the end of the login drops the connection at once and for good", async () => {
    const { clock, latest, login, logins, sockets, wakes } = setUp();
    const signal = logins.signalOf(login);
    await clock.advance(0);
    latest().owner.onOpen();
    logins.signIn("acc");
    expect(latest().dropped).toBe(true);
    latest().owner.onFrame(bytes(CHANGED));
    latest().owner.onClose("late");
    await clock.advance(600_000);
    expect([sockets.length, wakes(), clock.pending, getEventListeners(signal, "abort").length]).toEqual([1, 1, 0, 0]);
  });

  it.each([
    ["waiting to begin", async () => undefined],
    ["connecting", (clock: FakeClock) => clock.advance(0)],
    [
      "open",
      async (clock: FakeClock, latest: () => Socket) => {
        await clock.advance(0);
        latest().owner.onOpen();
      },
    ],
    [
      "waiting to reconnect",
      async (clock: FakeClock, latest: () => Socket) => {
        await clock.advance(0);
        latest().owner.onClose("ECONNRESET");
      },
    ],
  ])("P-9: closing while %s leaves nothing", async (_, reach) => {
    const { clock, latest, listener, login, logins, sockets } = setUp();
    await reach(clock, latest);
    const before = sockets.length;
    await Promise.all([listener.close(), listener.close()]);
    await clock.advance(600_000);
    expect([sockets.length, clock.pending]).toEqual([before, 0]);
    expect(sockets.every((socket) => socket.dropped)).toBe(true);
    expect(getEventListeners(logins.signalOf(login), "abort")).toEqual([]);
  });

  it("P-8: credentials that come after the end open nothing", async () => {
    const headers = deferred<HeaderMap>();
    const { clock, logins, sockets } = setUp({}, () => headers.promise);
    await clock.advance(0);
    logins.signOut();
    headers.resolve({ cookie: "late" });
    await settle();
    expect([sockets.length, clock.pending]).toEqual([0, 0]);
  });

  it("P-9: credentials that come after the deadline or after closing open nothing", async () => {
    const answers = [deferred<HeaderMap>(), deferred<HeaderMap>()];
    let asked = 0;
    const { clock, listener, sockets } = setUp({}, () => answers[asked++]?.promise);
    await clock.advance(31_000);
    answers[0]?.resolve({ cookie: "late" });
    await settle();
    expect([asked, sockets.length]).toEqual([2, 0]);
    await listener.close();
    answers[1]?.resolve({ cookie: "late" });
    await settle();
    expect([sockets.length, clock.pending]).toEqual([0, 0]);
  });

  it("P-9: credentials that come after the deadline and before the next attempt open nothing", async () => {
    const headers = deferred<HeaderMap>();
    const { clock, listener, sockets } = setUp({}, () => (sockets.length === 0 ? headers.promise : {}));
    await clock.advance(30_000);
    headers.resolve({ cookie: "late" });
    await settle();
    expect(sockets).toEqual([]);
    await clock.advance(1_000);
    expect(sockets).toHaveLength(1);
    await listener.close();
    expect([sockets[0]?.dropped, clock.pending]).toEqual([true, 0]);
  });

  it("P-8: a login that has ended opens nothing", async () => {
    const clock = new FakeClock();
    const logins = new LoginGuard({ authorize: () => ({}) });
    const login = logins.signIn("acc");
    logins.signOut();
    const listener = new HintListener({
      url: "ws://localhost/",
      login,
      logins,
      clock,
      openSocket: openNothing,
      onWake: () => undefined,
    });
    await clock.advance(60_000);
    await listener.close();
    expect(clock.pending).toBe(0);
  });

  it("refuses an option that it doesn't know, and names the right one", () => {
    const misspelt: object = { onwake: () => undefined };
    expect(() => setUp(misspelt)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ option: "onwake", suggestion: "onWake" }) }),
    );
  });
});
