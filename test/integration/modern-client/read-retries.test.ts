import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../src/errors.js";
import { FakeClock } from "../../support/fake-clock.js";
import { httpAnswer } from "../../support/raw-server.js";
import { bodies, connect, serve, stream } from "./support.js";

const tools = { tools: [{ name: "t", inputSchema: { type: "object" } }] };
const busy = (retryAfter = "0") =>
  httpAnswer("", { status: 503, type: "text/plain", headers: `Retry-After: ${retryAfter}\r\n` });

/** Serves these answers in turn, then tools. */
async function serveInTurn(...answers: Buffer[]) {
  let n = 0;
  return serve(() => answers[n++] ?? tools);
}

describe("reads", () => {
  it("F-11, F-13: a read is made again after 503 and after a stream that ended, each time with a new id and the caller's own key", async () => {
    const server = await serveInTurn(busy(), stream(":"));
    const meta = { "example.com/idempotency-key": "k" };
    await expect(connect(server.url, { random: () => 0 }).listTools({}, { meta })).resolves.toEqual(tools);
    expect(bodies(server).map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(bodies(server).map(({ params }) => params["_meta"])).toEqual(Array(3).fill(expect.objectContaining(meta)));
  });

  it("F-11: and again after a broken connection", async () => {
    let n = 0;
    const server = await serve((_, request) => {
      if ((n += 1) > 1) return tools;
      request.socket.destroy();
      return Buffer.alloc(0);
    });
    await expect(connect(server.url, { random: () => 0 }).listAllTools()).resolves.toMatchObject(tools);
    expect(server.requests).toHaveLength(2);
  });

  it("F-11: no more often than maxReadRetries; the error is the last one, and counts its attempts", async () => {
    const server = await serveInTurn(busy(), busy(), busy(), busy());
    await expect(connect(server.url).listTools()).rejects.toMatchObject({
      code: "unexpected_answer",
      details: { status: 503, evidence: { attempts: 3 } },
    });
    const once = await serveInTurn(busy());
    await expect(connect(once.url, { maxReadRetries: 0 }).listTools()).rejects.toMatchObject({
      details: { status: 503 },
    });
    expect(once.requests).toHaveLength(1);
  });

  it("F-11: tools/call is not made again", async () => {
    const server = await serveInTurn(busy());
    const client = connect(server.url);
    const contract = { parameters: [] };
    await expect(client.callTool({ name: "t" }, { contract })).rejects.toMatchObject({ delivery: "unknown" });
    expect(server.requests).toHaveLength(1);
  });

  it("F-11: a pause that the deadline does not allow is the error at once; an abort ends a pause", async () => {
    const clock = new FakeClock();
    const server = await serveInTurn(busy("120"), busy("10"));
    const client = connect(server.url, { clock });
    await expect(client.listTools({}, { totalTimeoutMs: 100_000 })).rejects.toMatchObject({ details: { status: 503 } });
    const controller = new AbortController();
    const listing = client.listTools({}, { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(2);
    await expect.poll(() => clock.pending).toBe(2);
    controller.abort("enough");
    await expect(listing).rejects.toBe("enough");
    expect(deliveryOf(listing)).toBe("unknown");
    expect(clock.pending).toBe(0);
  });

  it("F-1, F-11: a deadline that passes before the next attempt says what is known of the last one", async () => {
    const clock = new FakeClock();
    let late = 0;
    const lateClock = {
      now: () => clock.now() + late,
      schedule: (delayMs: number, run: () => void) => clock.schedule(delayMs, run),
    };
    const server = await serveInTurn(stream(":"));
    const client = connect(server.url, { clock: lateClock, random: () => 0 });
    const listing = client.listTools({}, { totalTimeoutMs: 1_000 }).catch((error: unknown) => error);
    await expect.poll(() => server.requests.length).toBe(1);
    await expect.poll(() => clock.pending).toBe(2);
    // The pause ends in time, and what follows it comes late.
    clock.step(0);
    late = 1_000;
    await expect(listing).resolves.toMatchObject({ code: "timeout", delivery: "unknown", details: { phase: "total" } });
    expect(server.requests).toHaveLength(1);
  });
});
