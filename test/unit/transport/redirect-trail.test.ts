import { expect, it } from "vitest";
import { RedirectTrail } from "../../../src/transport/redirect-trail.js";
import { FakeClock } from "../../support/fake-clock.js";

const endpoint = new URL("https://h.test/mcp");

it("F-14: a trail leads on from where it led, and ends at its limit", () => {
  const trail = new RedirectTrail(endpoint, 2);
  expect(trail.look(200, {})).toBe(false);
  expect(trail.look(307, { location: "a/b" })).toBe(true);
  expect(trail.leadsOn).toBe(true);
  trail.follow();
  expect([trail.url.href, trail.count, trail.leadsOn]).toEqual(["https://h.test/a/b", 1, false]);
  expect(trail.look(308, { location: "c" })).toBe(true);
  trail.follow();
  expect(trail.url.href).toBe("https://h.test/a/c");
  expect(trail.look(307, { location: "/d" })).toBe(false);
  expect(trail.leadsOn).toBe(false);
  expect(new RedirectTrail(endpoint, 0).look(307, { location: "/d" })).toBe(false);
});

it("F-7, F-8: what follows a redirect's head is waited for a moment, and for less than a short idle deadline", () => {
  const clock = new FakeClock();
  let givenUp = 0;
  const giveUp = (): void => void (givenUp += 1);
  const trail = new RedirectTrail(endpoint, 3);
  trail.look(307, { location: "/a" });
  trail.wait(clock, Infinity, giveUp);
  clock.step(249);
  expect(givenUp).toBe(0);
  clock.step(1);
  expect(givenUp).toBe(1);
  trail.wait(clock, 40, giveUp);
  clock.step(20);
  expect(givenUp).toBe(2);
  trail.wait(clock, 40, giveUp);
  trail.follow();
  expect(clock.pending).toBe(0);
});
