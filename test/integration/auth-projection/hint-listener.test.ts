import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HintEvent, HintListener, LoginGuard } from "../../../src/auth-projection/index.js";
import { ControlPlane } from "./control-plane.js";

const EVENT = "connector.authorization.changed";
const WITHIN = { timeout: 5_000, interval: 10 };

let plane: ControlPlane;
let listener: HintListener;
let events: HintEvent[];
let wakes: number;

beforeEach(async () => {
  plane = await ControlPlane.listen();
  events = [];
  wakes = 0;
  const logins = new LoginGuard({ authorize: () => ({ Cookie: "session=s3cr3t" }) });
  listener = new HintListener({
    url: plane.hintUrl,
    login: logins.signIn("acc"),
    logins,
    random: () => 0,
    onWake: () => (wakes += 1),
    onEvent: (event) => void events.push(event),
  });
});

afterEach(async () => {
  await listener.close();
  await plane.close();
});

describe("P-9: hints over a WebSocket", () => {
  it("P-9: connects with the account's headers, and wakes for hints in both forms", async () => {
    await expect.poll(() => wakes, WITHIN).toBe(1);
    expect(plane.handshakes).toMatchObject([{ url: "/hints?deviceId=d1", headers: { cookie: "session=s3cr3t" } }]);
    plane.hint({ type: EVENT, payload: { revision: 4, connectorId: "github" } });
    plane.hint({ event_type: EVENT, payload: Buffer.from('{"revision":"5"}').toString("base64") });
    plane.hint({ type: "another" });
    plane.hint("no JSON");
    await expect.poll(() => events.length, WITHIN).toBe(4);
    expect(events).toEqual([
      { kind: "connected" },
      { kind: "hint", revision: 4n, connectorKey: "github" },
      { kind: "hint", revision: 5n, connectorKey: undefined },
      { kind: "frame_ignored" },
    ]);
    expect(wakes).toBe(3);
  });

  it("P-9: a frame of 16 KiB is read; a longer one ends the connection, and the next one wakes", async () => {
    const padded = (bytes: number): string => JSON.stringify({ type: EVENT }).padEnd(bytes, " ");
    await expect.poll(() => plane.sockets.length, WITHIN).toBe(1);
    plane.hint(padded(16 * 1024));
    await expect.poll(() => wakes, WITHIN).toBe(2);
    plane.hint(padded(16 * 1024 + 1));
    await expect.poll(() => wakes, WITHIN).toBe(3);
    expect(events.map((event) => event.kind)).toEqual(["connected", "hint", "disconnected", "connected"]);
    expect(events[2]).toMatchObject({ reason: "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" });
    expect(plane.sockets).toHaveLength(1);
  });

  it.each([
    ["closes it", () => plane.sockets[0]?.close(1001), "closed 1001"],
    ["breaks it", () => plane.sockets[0]?.terminate(), "closed 1006"],
  ])("P-9: reconnects when the server %s, and that wakes", async (_, end, reason) => {
    await expect.poll(() => plane.sockets.length, WITHIN).toBe(1);
    end();
    await expect.poll(() => wakes, WITHIN).toBe(2);
    expect(events).toMatchObject([{ kind: "connected" }, { kind: "disconnected", reason }, { kind: "connected" }]);
  });

  it("P-9: takes no part in compression", async () => {
    await expect.poll(() => plane.handshakes.length, WITHIN).toBe(1);
    expect(plane.handshakes[0]?.headers["sec-websocket-extensions"]).toBeUndefined();
  });

  it("P-9: closing leaves no connection, and nothing comes after it", async () => {
    await expect.poll(() => wakes, WITHIN).toBe(1);
    plane.hint({ type: EVENT });
    await listener.close();
    const [seen, woken] = [events.length, wakes];
    await expect.poll(() => plane.connections(), WITHIN).toBe(0);
    expect([events.length, wakes, plane.handshakes.length]).toEqual([seen, woken, 1]);
  });

  it("P-9: closing before the connection exists opens none", async () => {
    await listener.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(plane.handshakes.length).toBeLessThanOrEqual(1);
    await expect.poll(() => plane.connections(), WITHIN).toBe(0);
    expect(events).toEqual([]);
  });
});

describe("P-9: handshakes that fail", () => {
  it.each([
    ["a refusal", "401 Unauthorized", "status 401"],
    ["a redirect", "302 Found\r\nLocation: /hints", "status 302"],
  ])("P-9: %s is tried again later, and not followed", async (_, refusal, reason) => {
    plane.refusal = refusal;
    await expect.poll(() => events.length, WITHIN).toBe(1);
    expect(events).toMatchObject([{ kind: "disconnected", reason }]);
    expect([plane.handshakes.length, wakes]).toEqual([1, 0]);
    plane.refusal = undefined;
    await expect.poll(() => wakes, WITHIN).toBe(1);
  });

  it("P-9: a server that is not there is tried again", async () => {
    await plane.close();
    await expect.poll(() => events.length, WITHIN).toBeGreaterThanOrEqual(1);
    expect(events[0]).toMatchObject({ kind: "disconnected" });
    await listener.close();
    plane = await ControlPlane.listen();
  });
});
