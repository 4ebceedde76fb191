import { describe, expect, it } from "vitest";
import { recordDelivery, RemoteConnectorError } from "../../../../src/errors.js";
import type { BoundAgent } from "../../../../src/connector-host/local-server/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { answerOf, FixedDirectory, hangs, HELLO, NeverLists, says } from "./fixed-directory.js";
import { callModern, messagesOf, modernBody, modernHeaders, post, postLegacy, type RawAnswer } from "./raw-agent.js";
import { gate, start } from "./start.js";

const KEY = "sh.tutti/delivery";

/** The verdict in an answer, whether it is JSON or the last event of a stream. */
function verdictOf(answer: RawAnswer): unknown {
  const stream = answer.headers.get("content-type") === "text/event-stream";
  const text = stream ? JSON.stringify(messagesOf(answer.text).at(-1)) : answer.text;
  const message: { error: { data: Record<string, unknown> } } = JSON.parse(text);
  return message.error.data[KEY];
}

/** A tool that hangs until it is aborted, and then knows how far its request got. */
function hangsAfter(delivery: "not_sent" | "unknown") {
  return ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
    const calling = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        recordDelivery(calling, signal.reason, delivery);
        reject(signal.reason);
      });
    });
    return calling;
  };
}

describe("H-26: an agent that leaves", () => {
  it.each(["modern", "legacy"])("aborts its call: %s", async (era) => {
    let reason: unknown;
    const { agent, directory, faults } = await start((tools) =>
      tools.add(
        "a_x",
        hangs((why) => (reason = why)),
      ),
    );
    const leaving = new AbortController();
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a_x" } };
    const calling =
      era === "modern"
        ? callModern(agent, "a_x", "{}", { signal: leaving.signal })
        : post(agent, JSON.stringify(message), {}, { signal: leaving.signal });
    await expect.poll(() => directory.calls.length).toBe(1);
    leaving.abort();
    await expect(calling).rejects.toThrow();
    await expect.poll(() => reason).toBeInstanceOf(DOMException);
    expect(faults).toEqual([]);
  });

  it("aborts its call in the middle of a stream", async () => {
    let aborted = false;
    const { agent } = await start((tools) =>
      tools.add("a_x", (call) => {
        call.onProgress?.({ progress: 1 });
        return hangs(() => (aborted = true))(call);
      }),
    );
    const leaving = new AbortController();
    const body = modernBody("tools/call", '{"name":"a_x"}', { meta: { progressToken: 1 } });
    const headers = { ...agent.headers, ...modernHeaders("tools/call", "a_x") };
    const response = await fetch(agent.url, { method: "POST", body, headers, signal: leaving.signal });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    leaving.abort();
    await expect.poll(() => aborted).toBe(true);
  });

  it("aborts nobody else's", async () => {
    const { agent, directory } = await start((tools) => tools.add("a_x", hangs()));
    const leaving = new AbortController();
    const gone = callModern(agent, "a_x", "{}", { signal: leaving.signal });
    await expect.poll(() => directory.calls.length).toBe(1);
    const staying = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(2);
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await expect.poll(() => directory.calls[0]?.call.signal.aborted).toBe(true);
    expect(directory.calls[1]?.call.signal.aborted).toBe(false);
    agent.revoke();
    await staying;
  });
});

describe("H-20: a bearer that ends while a call runs", () => {
  it.each<["not_sent" | "unknown", (agent: BoundAgent) => void]>([
    ["not_sent", (agent) => agent.revoke()],
    ["unknown", (agent) => agent.revoke()],
  ])("aborts it, and tells how far it got: %s", async (delivery, revoke) => {
    const { agent, directory } = await start((tools) => tools.add("a_x", hangsAfter(delivery)));
    const calling = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(1);
    revoke(agent);
    expect(verdictOf(await calling)).toEqual({ code: "cancelled", delivery, reason: "binding_ended" });
  });

  it("is the case when the session is bound again", async () => {
    const { server, agent, directory } = await start((tools) => tools.add("a_x", hangs()));
    const calling = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(1);
    server.bind({ workspaceId: "w", agentSessionId: "s" });
    expect(verdictOf(await calling)).toMatchObject({ code: "cancelled", reason: "binding_ended" });
  });

  it("keeps a result that was there all the same", async () => {
    const { agent, directory } = await start((tools) =>
      tools.add(
        "a_x",
        ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(answerOf(HELLO)))),
      ),
    );
    const calling = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(1);
    agent.revoke();
    expect((await calling).text).toContain("hello");
  });

  it("sends nothing upstream when it ended during the look-up", async () => {
    const looking = gate();
    const found = gate();
    class SlowDirectory extends FixedDirectory {
      override async resolve(...args: Parameters<FixedDirectory["resolve"]>): ReturnType<FixedDirectory["resolve"]> {
        looking.open();
        await found.opened;
        return super.resolve(...args);
      }
    }
    const slow = new SlowDirectory().add("a_x", says(HELLO));
    const { agent } = await start(undefined, { directory: slow });
    const calling = callModern(agent, "a_x");
    await looking.opened;
    agent.revoke();
    found.open();
    expect(verdictOf(await calling)).toEqual({ code: "cancelled", delivery: "not_sent", reason: "binding_ended" });
    expect(slow.calls).toEqual([]);
  });

  it("refuses a request whose body was still coming", async () => {
    const { agent } = await start();
    const rest = gate();
    const text = modernBody("server/discover");
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(text.slice(0, 10)));
        await rest.opened;
        controller.enqueue(new TextEncoder().encode(text.slice(10)));
        controller.close();
      },
    });
    const headers = { ...agent.headers, ...modernHeaders("server/discover") };
    const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half", headers };
    const asking = fetch(agent.url, init);
    // A second request on the same loop turns around behind the first one's head, so that the first is accepted by now.
    for (let i = 0; i < 3; i += 1) await post(agent, text, modernHeaders("server/discover"));
    agent.revoke();
    rest.open();
    expect((await asking).status).toBe(401);
  });
});

describe("F-7: deadlines", () => {
  it("end a call, and name the option", async () => {
    const clock = new FakeClock();
    const { agent, directory } = await start((tools) => tools.add("a_x", hangsAfter("unknown")), {
      clock,
      callTimeoutMs: 3_000,
    });
    const calling = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(1);
    expect(directory.calls[0]?.call.deadline).toBe(clock.now() + 3_000);
    await clock.advance(2_999);
    expect(directory.calls[0]?.call.signal.aborted).toBe(false);
    await clock.advance(1_000);
    expect(verdictOf(await calling)).toEqual({
      code: "timeout",
      delivery: "unknown",
      phase: "total",
      option: "callTimeoutMs",
      limitMs: 3_000,
    });
  });

  it("end a list", async () => {
    const clock = new FakeClock();
    const { agent } = await start(undefined, { clock, listTimeoutMs: 2_000, directory: new NeverLists() });
    const listing = post(agent, modernBody("tools/list"), modernHeaders("tools/list"));
    await expect.poll(() => clock.pending).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await clock.advance(3_000);
    expect(verdictOf(await listing)).toMatchObject({ code: "timeout", option: "listTimeoutMs" });
  });

  it("cut an agent off when the directory does not obey its signal", async () => {
    const clock = new FakeClock();
    const { agent, directory } = await start((tools) => tools.add("a_x", () => new Promise(() => undefined)), {
      clock,
    });
    const calling = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(1);
    const cut = expect(calling).rejects.toThrow();
    agent.revoke();
    await clock.advance(2_000);
    await cut;
  });

  it("need no timer while nothing runs", async () => {
    const clock = new FakeClock();
    const { agent } = await start((tools) => tools.add("a_x", says(HELLO)), { clock });
    expect(clock.pending).toBe(0);
    await callModern(agent, "a_x");
    await callModern(agent, "a_x");
    expect(clock.pending).toBe(1);
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });
});

describe("H-26: a call that takes long", () => {
  it("shows signs of life on a stream", async () => {
    const clock = new FakeClock();
    const done = gate();
    const { agent, directory } = await start(
      (tools) =>
        tools.add("a_x", async () => {
          await done.opened;
          return answerOf(HELLO);
        }),
      { clock, keepAliveMs: 10_000 },
    );
    const calling = callModern(agent, "a_x");
    const plain = postLegacy(
      agent,
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a_x" } },
      { Accept: "application/json" },
    );
    await expect.poll(() => directory.calls.length).toBe(2);
    await clock.advance(21_000);
    done.open();
    const answer = await calling;
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.text.match(/^:$/gm)?.length).toBe(2);
    expect(messagesOf(answer.text)).toEqual([expect.objectContaining({ id: 1 })]);
    expect((await plain).headers.get("content-type")).toBe("application/json");
  });
});

describe("H-26: an agent that does not read", () => {
  it("loses progress beyond the buffer, and gets its result", async () => {
    const flooded = gate();
    const { agent } = await start(
      (tools) =>
        tools.add("a_x", async ({ onProgress }) => {
          for (let n = 1; n <= 20_000; n += 1) onProgress?.({ progress: n, message: "x".repeat(1_000) });
          flooded.open();
          return answerOf(HELLO);
        }),
      { maxBufferedBytes: 100_000 },
    );
    const body = modernBody("tools/call", '{"name":"a_x"}', { meta: { progressToken: 1 } });
    const headers = { ...agent.headers, ...modernHeaders("tools/call", "a_x") };
    const response = await fetch(agent.url, { method: "POST", body, headers });
    await flooded.opened;
    const messages = messagesOf(await response.text());
    expect(messages.length).toBeLessThan(20_000);
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });
});

describe("H-40: close", () => {
  it("answers what runs, honestly, and accepts nothing more", async () => {
    const { server, agent, directory } = await start(
      (tools) => tools.add("a_sent", hangsAfter("unknown")).add("a_queued", hangsAfter("not_sent")),
      { closeTimeoutMs: 10_000 },
    );
    const progress = { meta: { progressToken: 1 } };
    const running = [
      callModern(agent, "a_sent"),
      callModern(agent, "a_queued"),
      callModern(agent, "a_sent", "{}", progress),
    ];
    await expect.poll(() => directory.calls.length).toBe(3);
    directory.calls[2]?.call.onProgress?.({ progress: 1 });
    const before = performance.now();
    await Promise.all([server.close(), server.close()]);
    expect(performance.now() - before).toBeLessThan(1_000);
    const reason = "server_closing";
    expect((await Promise.all(running)).map(verdictOf)).toEqual([
      { code: "cancelled", delivery: "unknown", reason },
      { code: "cancelled", delivery: "not_sent", reason },
      { code: "cancelled", delivery: "unknown", reason },
    ]);
    await expect(callModern(agent, "a_sent")).rejects.toThrow();
    await server.close();
  });

  it("is bounded when the directory does not obey its signal", async () => {
    const { server, agent, directory } = await start((tools) => tools.add("a_x", () => new Promise(() => undefined)), {
      closeTimeoutMs: 200,
    });
    const calling = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(1);
    const cut = expect(calling).rejects.toThrow();
    const before = performance.now();
    await server.close();
    expect(performance.now() - before).toBeLessThan(1_000);
    await cut;
  });

  it("lets a failure of the directory be told as it is", async () => {
    const { server, agent, directory } = await start((tools) =>
      tools.add(
        "a_x",
        ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () =>
              reject(
                new RemoteConnectorError("connection_broken", {
                  message: "m",
                  delivery: "unknown",
                  details: { origin: "o", reason: "r" },
                }),
              ),
            );
          }),
      ),
    );
    const calling = callModern(agent, "a_x");
    await expect.poll(() => directory.calls.length).toBe(1);
    await server.close();
    expect(verdictOf(await calling)).toEqual({ code: "connection_broken", delivery: "unknown" });
  });
});
