import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { Listeners } from "../../../../../src/connector-host/local-server/listeners.js";
import {
  type LocalServerOptions,
  resolveLocalServerOptions,
} from "../../../../../src/connector-host/local-server/options.js";
import type { Binding, ToolDirectory } from "../../../../../src/connector-host/local-server/index.js";
import { type Session, Sessions } from "../../../../../src/connector-host/local-server/sessions/index.js";
import { FakeClock } from "../../../../support/fake-clock.js";

const directory: ToolDirectory = {
  list: async () => ({ tools: [], omitted: [] }),
  resolve: () => Promise.reject(new Error("no tools")),
  call: () => Promise.reject(new Error("no tools")),
};

const MINUTE_MS = 60_000;

function binding(agentSessionId: string): Binding {
  return { workspaceId: "w", agentSessionId, invocation: undefined, login: undefined };
}

function sessionsWith(options: Partial<LocalServerOptions> = {}) {
  const clock = new FakeClock();
  const running = new Set<Session>();
  const ended: Session[] = [];
  const listeners = new Listeners();
  const sessions = new Sessions({
    config: resolveLocalServerOptions({ directory, clock, ...options }),
    listeners,
    isRunning: (session) => running.has(session),
    onEnd: (session) => ended.push(session),
  });
  return { clock, running, ended, sessions, listeners };
}

/** The mark in the ids of a session's events, as a connection gets it. */
function tag(session: Session): string {
  const written: string[] = [];
  const listening = response();
  listening.write = (chunk: unknown) => written.push(String(chunk)) > 0;
  session.listen(listening, undefined);
  return /id: ([\w-]+)\./.exec(written.join(""))?.[1] ?? "none";
}

/** A response without a connection. */
function response(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()));
}

describe("H-22: a session", () => {
  it("has an id that can't be guessed and travels in a header", () => {
    const { sessions } = sessionsWith();
    const ids = Array.from({ length: 100 }, () => sessions.create(binding("a"), "2025-11-25").id);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{43}$/);
  });

  it("is there for its binding alone, until it ends", () => {
    const { sessions, ended } = sessionsWith();
    const [mine, theirs] = [binding("a"), binding("a")];
    const session = sessions.create(mine, "2025-06-18");
    expect([sessions.find(session.id, mine), sessions.find(session.id, theirs)]).toEqual([session, undefined]);
    sessions.create(theirs, "2025-06-18");
    sessions.endOf(mine);
    sessions.end(session);
    expect([sessions.find(session.id, mine), sessions.size, ended]).toEqual([undefined, 1, [session]]);
  });
});

describe("H-16: sessions", () => {
  it("end when they are idle for too long, by themselves, and no timer is left", () => {
    const { clock, sessions, running, ended } = sessionsWith();
    const a = binding("a");
    const [idle, used, busy] = [1, 2, 3].map(() => sessions.create(a, "2025-11-25"));
    expect(clock.pending).toBe(1);
    if (idle === undefined || used === undefined || busy === undefined) throw new Error("unreachable");
    running.add(busy);
    clock.step(29 * MINUTE_MS);
    expect(sessions.find(used.id, a)).toBe(used);
    clock.step(MINUTE_MS);
    expect([ended, sessions.size]).toEqual([[idle], 2]);
    clock.step(29 * MINUTE_MS);
    expect(ended).toEqual([idle, used]);
    clock.step(60 * MINUTE_MS);
    expect([sessions.size, clock.pending]).toEqual([1, 1]);
    running.clear();
    busy.touch();
    clock.step(30 * MINUTE_MS);
    expect([sessions.size, clock.pending]).toEqual([0, 0]);
  });

  it("are not found any more at the moment when they are idle for too long", () => {
    const { clock, sessions } = sessionsWith({ sessionIdleMs: 100 });
    const a = binding("a");
    const session = sessions.create(a, "2025-11-25");
    clock.step(99);
    expect(sessions.find(session.id, a)).toBe(session);
    clock.step(100);
    expect(sessions.find(session.id, a)).toBeUndefined();
  });

  it("of an agent that begins them again and again take none of the others'", () => {
    const { sessions } = sessionsWith({ maxSessions: 3 });
    const [quiet, loud] = [binding("quiet"), binding("loud")];
    const { id } = sessions.create(quiet, "2025-11-25");
    for (let count = 0; count < 5; count += 1) sessions.create(loud, "2025-11-25");
    expect([sessions.size, sessions.find(id, quiet)?.id]).toEqual([3, id]);
  });

  it("make room by the one that was idle for the longest time, and refuse when none is idle", () => {
    const { clock, sessions, running, ended } = sessionsWith({ maxSessions: 3 });
    const a = binding("a");
    const made = [1, 2, 3].map(() => {
      clock.step(1);
      return sessions.create(a, "2025-11-25");
    });
    const [first, second, third] = made;
    if (first === undefined || second === undefined || third === undefined) throw new Error("unreachable");
    running.add(first);
    clock.step(1);
    sessions.find(second.id, a);
    const fourth = sessions.create(a, "2025-11-25");
    expect([ended, sessions.size]).toEqual([[third], 3]);
    for (const each of [second, fourth]) running.add(each);
    expect(() => sessions.create(a, "2025-11-25")).toThrowError(
      expect.objectContaining({ code: "limit_exceeded", details: { option: "maxSessions", limit: 3 } }),
    );
    running.delete(first);
    sessions.create(a, "2025-11-25");
    expect([ended, sessions.size]).toEqual([[third, first], 3]);
  });

  it("listen from their first GET until they were away for the window, or end", () => {
    const { clock, sessions, listeners } = sessionsWith({ resumeWindowMs: 10_000 });
    const a = binding("a");
    const session = sessions.create(a, "2025-11-25");
    expect([listeners.size, sessions.isBusy(a)]).toEqual([0, false]);
    const [first, second, third] = [response(), response(), response()];
    session.listen(first, undefined);
    session.listen(second, undefined);
    expect([listeners.size, sessions.isBusy(a), first.writableEnded]).toEqual([1, true, true]);
    // The end of the replaced connection means nothing.
    first.emit("close");
    clock.step(60_000);
    expect([listeners.size, sessions.isBusy(a)]).toEqual([1, true]);
    second.emit("close");
    clock.step(9_000);
    expect([listeners.size, sessions.isBusy(a)]).toEqual([1, false]);
    clock.step(1_000);
    expect(listeners.size).toBe(0);
    session.listen(third, undefined);
    expect(listeners.size).toBe(1);
    sessions.end(session);
    expect([listeners.size, third.writableEnded, clock.pending]).toEqual([0, true, 0]);
  });

  it("know the streams of their newest requests, and of those that still run", () => {
    const { clock, sessions } = sessionsWith();
    const session = sessions.create(binding("a"), "2025-11-25");
    const running = session.openStream(0, response());
    for (let id = 1; id <= 300; id += 1) session.openStream(id, response())?.answer("{}");
    running?.send("{}");
    const known = (stream: number): boolean =>
      session.listen(response(), `${tag(session)}.${String(stream)}.1`) === "opened";
    expect([known(1), known(2), known(46), known(47), known(301), known(302)]).toEqual([
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(session.openStream("x".repeat(257), response())).toBeUndefined();
    sessions.end(session);
    // The answer of a request that ended with its session is nothing to come back for.
    running?.answer("{}");
    expect([session.openStream(1, response()), clock.pending]).toEqual([undefined, 0]);
  });

  it("leave nothing after 10,000 of them, nor after the close", () => {
    const { clock, sessions, ended } = sessionsWith();
    for (let count = 0; count < 10_000; count += 1) sessions.create(binding("a"), "2025-11-25");
    expect([sessions.size, ended.length, clock.pending]).toEqual([256, 9_744, 1]);
    sessions.close();
    expect([sessions.size, ended.length, clock.pending]).toEqual([0, 10_000, 0]);
  });
});
