import { describe, expect, it } from "vitest";
import { isRemoteConnectorError, RemoteConnectorError } from "../../../src/errors.js";
import type { GatewayConnector } from "../../../src/gateway/options.js";
import type { Upstream } from "../../../src/gateway/upstream.js";
import { type UpstreamOpening, UpstreamPool } from "../../../src/gateway/upstream-pool.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const IDLE_MS = 1_000;

const files: GatewayConnector = {
  connectorId: "files",
  connectorVersion: "1",
  authorization: "account",
  upstream: { kind: "stdio", command: "x" },
};

/** An upstream that does nothing, and whose life a test holds in its hands. */
class IdleUpstream implements Upstream {
  readonly era = "modern";
  closes = 0;
  leave = (): void => undefined;
  readonly gone = new Promise<void>((resolve) => (this.leave = resolve));

  listTools(): Promise<never> {
    return Promise.reject(new Error("not asked for"));
  }

  callTool(): Promise<never> {
    return Promise.reject(new Error("not asked for"));
  }

  request(): Promise<never> {
    return Promise.reject(new Error("not asked for"));
  }

  listen(): Promise<never> {
    return Promise.reject(new Error("not asked for"));
  }

  close(): Promise<void> {
    this.closes += 1;
    return Promise.resolve();
  }
}

function setUp(open?: (request: UpstreamOpening) => Promise<Upstream>): {
  pool: UpstreamPool;
  opened: IdleUpstream[];
  clock: FakeClock;
} {
  const opened: IdleUpstream[] = [];
  const clock = new FakeClock();
  const openIdle = (): Promise<Upstream> => {
    const upstream = new IdleUpstream();
    opened.push(upstream);
    return Promise.resolve(upstream);
  };
  const onFault = (error: unknown): void => {
    throw error;
  };
  return { pool: new UpstreamPool({ open: open ?? openIdle, clock, idleMs: IDLE_MS, onFault }), opened, clock };
}

const never = new AbortController().signal;
const upstreamOf = (pool: UpstreamPool, account = "ada", signal = never): Promise<Upstream> =>
  pool.use(pool.ticket(account, files), signal, ({ upstream }) => Promise.resolve(upstream));

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.catch((caught: unknown) => caught);
  return isRemoteConnectorError(error) ? error.code : error;
}

describe("UpstreamPool", () => {
  it("C-5: opens one upstream for each account, however many callers come at once", async () => {
    const { opened, pool } = setUp();
    const [one, two, other] = await Promise.all([upstreamOf(pool), upstreamOf(pool), upstreamOf(pool, "bob")]);
    expect(one).toBe(two);
    expect(other).not.toBe(one);
    expect(opened).toHaveLength(2);
    expect(pool.list().map(({ accountId, state, users }) => [accountId, state, users])).toEqual([
      ["ada", "open", 0],
      ["bob", "open", 0],
    ]);
  });

  it("C-5: opens anew after the upstream went away by itself", async () => {
    const { opened, pool } = setUp();
    await upstreamOf(pool);
    opened[0]?.leave();
    await settle();
    expect(pool.list()).toEqual([]);
    expect(await upstreamOf(pool)).toBe(opened[1]);
  });

  it("C-5: a failure to open is everyone's who waits, and nobody's afterwards", async () => {
    let attempts = 0;
    const { pool } = setUp(() => {
      attempts += 1;
      if (attempts === 1) return Promise.reject(new Error("first"));
      return Promise.resolve(new IdleUpstream());
    });
    const outcomes = await Promise.allSettled([upstreamOf(pool), upstreamOf(pool)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await upstreamOf(pool);
    expect(attempts).toBe(2);
  });

  it("C-5: closes an upstream that nobody used for a while, and no timer is left", async () => {
    const { clock, opened, pool } = setUp();
    await upstreamOf(pool);
    await clock.advance(IDLE_MS - 1);
    await upstreamOf(pool);
    await clock.advance(IDLE_MS - 1);
    expect(opened[0]?.closes).toBe(0);
    await clock.advance(1);
    expect(opened[0]?.closes).toBe(1);
    expect(clock.pending).toBe(0);
    expect(pool.list()).toEqual([]);
  });

  it("C-5: does not count the time of a call as idle", async () => {
    const { clock, opened, pool } = setUp();
    let finish = (): void => undefined;
    const call = pool.use(pool.ticket("ada", files), never, () => new Promise<void>((resolve) => (finish = resolve)));
    await clock.advance(IDLE_MS * 5);
    expect(opened[0]?.closes).toBe(0);
    finish();
    await call;
    await clock.advance(IDLE_MS);
    expect(opened[0]?.closes).toBe(1);
  });

  it("H-6: a ticket that was taken before the upstream was closed opens nothing", async () => {
    const { opened, pool } = setUp();
    const early = pool.ticket("ada", files);
    await pool.close("ada", "files");
    expect(await codeOf(pool.use(early, never, () => Promise.resolve()))).toBe("cancelled");
    expect(opened).toHaveLength(0);
    await upstreamOf(pool);
    await pool.close("ada", "files");
    expect(opened[0]?.closes).toBe(1);
    await upstreamOf(pool);
    expect(opened).toHaveLength(2);
  });

  it("C-5: a caller that leaves stops waiting; the opening goes on for others", async () => {
    let finish = (_upstream: Upstream): void => undefined;
    const { pool } = setUp(() => new Promise((resolve) => (finish = resolve)));
    const abort = new AbortController();
    const left = upstreamOf(pool, "ada", abort.signal);
    const stays = upstreamOf(pool);
    abort.abort("left");
    expect(await codeOf(left)).toBe("left");
    expect(await codeOf(upstreamOf(pool, "ada", abort.signal))).toBe("left");
    const upstream = new IdleUpstream();
    finish(upstream);
    expect(await stays).toBe(upstream);
  });

  it("C-5: closes one that opens after its end, tells its callers at once, and opens nothing afterwards", async () => {
    let finish = (_upstream: Upstream): void => undefined;
    const { pool } = setUp(() => new Promise((resolve) => (finish = resolve)));
    const waiting = upstreamOf(pool);
    const closed = pool.closeAll();
    expect(await codeOf(waiting)).toBe("cancelled");
    const upstream = new IdleUpstream();
    finish(upstream);
    await closed;
    expect(upstream.closes).toBe(1);
    expect(await codeOf(upstreamOf(pool))).toBe("cancelled");
    await pool.closeAll();
  });

  it.each<[string, (pool: UpstreamPool) => Promise<void>]>([
    ["close", (pool) => pool.close("ada", "files")],
    ["closeAll", (pool) => pool.closeAll()],
  ])("C-5: %s ends an opening that hangs, and resolves when nothing is left of it", async (_name, close) => {
    let leave = (): void => undefined;
    const { pool } = setUp(({ signal }) => {
      return new Promise((_resolve, reject) => (leave = () => reject(signal.reason)));
    });
    const waiting = codeOf(upstreamOf(pool));
    let closed = false;
    const closing = close(pool).then(() => (closed = true));
    expect(await waiting).toBe("cancelled");
    await settle();
    expect(closed).toBe(false);
    leave();
    await closing;
    expect(pool.list()).toEqual([]);
  });

  it("C-5: an opening is ended that everyone left for a while, and not one that somebody waits for", async () => {
    const signals: AbortSignal[] = [];
    const { clock, pool } = setUp(({ signal }) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const abort = new AbortController();
    const left = codeOf(upstreamOf(pool, "ada", abort.signal));
    void codeOf(upstreamOf(pool, "bob"));
    abort.abort("left");
    await left;
    await clock.advance(IDLE_MS);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("P-11: one that was retired ends with its last call, and the next caller gets another", async () => {
    const { clock, opened, pool } = setUp();
    let finish = (): void => undefined;
    const call = pool.use(pool.ticket("ada", files), never, () => new Promise<void>((resolve) => (finish = resolve)));
    const early = pool.ticket("ada", files);
    await settle();
    pool.retire("ada", "files");
    expect(opened[0]?.closes).toBe(0);
    const next = await pool.use(early, never, ({ upstream }) => Promise.resolve(upstream));
    expect(next).toBe(opened[1]);
    finish();
    await call;
    await settle();
    expect(opened.map(({ closes }) => closes)).toEqual([1, 0]);
    pool.retire("ada", "files");
    await settle();
    expect(opened.map(({ closes }) => closes)).toEqual([1, 1]);
    expect([pool.list(), clock.pending]).toEqual([[], 0]);
    pool.retire("ada", "files");
  });

  it.each(["close", "closeAll"] as const)("H-6: %s ends one that was retired too, and its calls", async (how) => {
    const { opened, pool } = setUp();
    const call = pool.use(pool.ticket("ada", files), never, () => new Promise<void>(() => undefined));
    void call;
    await settle();
    pool.retire("ada", "files");
    await pool[how]("ada", "files");
    expect(opened[0]?.closes).toBe(1);
  });

  it("C-5: a failure of the work is the caller's alone", async () => {
    const { opened, pool } = setUp();
    const fault = new RemoteConnectorError("invalid_answer", { message: "m", details: { reason: "r" } });
    expect(await codeOf(pool.use(pool.ticket("ada", files), never, () => Promise.reject(fault)))).toBe(
      "invalid_answer",
    );
    expect(await upstreamOf(pool)).toBe(opened[0]);
  });
});
