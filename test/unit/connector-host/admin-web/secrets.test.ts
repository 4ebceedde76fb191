import { describe, expect, it } from "vitest";
import { AdminSessions, isKeyOf } from "../../../../src/connector-host/admin-web/admin-sessions.js";
import { OneTimeLinks } from "../../../../src/connector-host/admin-web/one-time-links.js";

function party() {
  const time = { now: 0 };
  const now = () => time.now;
  return { time, links: new OneTimeLinks({ now }), sessions: new AdminSessions({ now }) };
}

describe("H-33: one-time links", () => {
  it("H-33: have 32 random bytes, and can be opened once", () => {
    const { links } = party();
    const token = links.make();
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(links.take("")).toBe(false);
    expect(links.take(`${token}x`)).toBe(false);
    expect(links.take(token)).toBe(true);
    expect(links.take(token)).toBe(false);
  });

  it("H-33: can be opened for two minutes", () => {
    const { links, time } = party();
    const [early, late] = [links.make(), links.make()];
    expect(links.endsAt).toBe(120_000);
    time.now = 119_999;
    expect(links.take(early)).toBe(true);
    time.now = 120_000;
    expect(links.take(late)).toBe(false);
    expect(links.endsAt).toBeUndefined();
  });

  it("H-33, H-16: four may be open; with one more the oldest is not", () => {
    const { links } = party();
    const tokens = Array.from({ length: 5 }, () => links.make());
    expect(tokens.map((token) => links.take(token))).toEqual([false, true, true, true, true]);
  });

  it("H-33: none is left after the host's end", () => {
    const { links } = party();
    const token = links.make();
    links.clear();
    expect(links.take(token)).toBe(false);
  });
});

describe("H-33: sessions", () => {
  const HALF_HOUR = 30 * 60_000;

  it("H-33: a cookie finds its own, and its key is another secret", () => {
    const { sessions } = party();
    const [one, other] = [sessions.begin(), sessions.begin()];
    const found = sessions.find(one.cookie);
    expect(found).toBeDefined();
    if (found === undefined) return;
    expect(isKeyOf(found, one.key)).toBe(true);
    for (const wrong of [other.key, one.cookie, ""]) expect(isKeyOf(found, wrong)).toBe(false);
    for (const wrong of [one.key, "", `${one.cookie}x`]) expect(sessions.find(wrong)).toBeUndefined();
    sessions.end(found);
    expect(sessions.find(one.cookie)).toBeUndefined();
    expect(sessions.find(other.cookie)).toBeDefined();
  });

  it("H-33: ends after 30 idle minutes, and after 8 hours whatever is done", () => {
    const { sessions, time } = party();
    const { cookie: idle } = sessions.begin();
    time.now = HALF_HOUR - 1;
    expect(sessions.find(idle)).toBeDefined();
    time.now += HALF_HOUR;
    expect(sessions.find(idle)).toBeUndefined();
    const { cookie } = sessions.begin();
    const begun = time.now;
    while (time.now + HALF_HOUR - 1 < begun + 16 * HALF_HOUR) {
      time.now += HALF_HOUR - 1;
      expect(sessions.find(cookie)).toBeDefined();
    }
    expect(sessions.endsAt).toBe(begun + 16 * HALF_HOUR);
    time.now = begun + 16 * HALF_HOUR;
    expect(sessions.find(cookie)).toBeUndefined();
    expect(sessions.endsAt).toBeUndefined();
  });

  it("H-33, H-16: there are at most eight; with one more the oldest ends", () => {
    const { sessions } = party();
    const begun = Array.from({ length: 9 }, () => sessions.begin());
    expect(sessions.size).toBe(8);
    expect(begun.map(({ cookie }) => sessions.find(cookie) !== undefined)).toEqual([
      false,
      ...Array.from({ length: 8 }, () => true),
    ]);
  });
});
