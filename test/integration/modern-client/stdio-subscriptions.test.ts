import { describe, expect, it } from "vitest";
import { connect, official, scripted } from "./stdio-servers.js";

const FILTER = { toolsListChanged: true };
const CHANGED = "notifications/tools/list_changed";

describe("subscriptions over stdio", () => {
  it("W-36, W-40: each gets what carries its id, and nothing else", async () => {
    const made = connect(scripted());
    const first = made.client.listen(FILTER);
    const second = made.client.listen(FILTER);
    await expect(first.acknowledged).resolves.toEqual(FILTER);
    await second.acknowledged;
    const heard: unknown[] = [];
    const ids = await made.client.callTool({ name: "change" }, { onNotification: ({ params }) => heard.push(params) });
    const { structuredContent } = ids;
    const [one, other] = Array.isArray(structuredContent) ? structuredContent : [];
    for (const [subscription, id] of [
      [first, one],
      [second, other],
    ] as const) {
      const next = await subscription[Symbol.asyncIterator]().next();
      expect(next.value).toMatchObject({ method: CHANGED, params: { n: id } });
    }
    expect(heard).toEqual([{}]);
    expect(made.diagnostics).toEqual([]);
  });

  it("W-36: our close is a cancelled notification with its id; the server's end is not answered with one", async () => {
    const made = connect(scripted());
    const ours = made.client.listen(FILTER);
    await ours.acknowledged;
    ours.close();
    await expect(ours.closed).resolves.toMatchObject({ kind: "cancelled" });
    const theirs = made.client.listen(FILTER);
    await theirs.acknowledged;
    await made.valueOf("end-subscriptions", { how: "cancel" });
    await expect(theirs.closed).resolves.toEqual({ kind: "ended_by_server", reason: "so" });
    const seen = await made.valueOf("seen");
    const cancelled = (Array.isArray(seen) ? seen : []).filter(({ method }) => method === "notifications/cancelled");
    const listens = (Array.isArray(seen) ? seen : []).filter(({ method }) => method === "subscriptions/listen");
    expect(cancelled.map(({ params }) => params.requestId)).toEqual([listens[0].id]);
  });

  it("W-36: a result ends it in peace, the end of the process breaks it", async () => {
    const { client, valueOf } = connect(scripted());
    const first = client.listen(FILTER);
    await first.acknowledged;
    await valueOf("end-subscriptions");
    await expect(first.closed).resolves.toMatchObject({ kind: "completed" });
    const second = client.listen(FILTER);
    await second.acknowledged;
    await client.callTool({ name: "die" }).catch(() => undefined);
    await expect(second.closed).resolves.toMatchObject({ kind: "broken", error: { code: "process_exited" } });
  });

  it("F-10: what waits to be taken is bounded in bytes", async () => {
    const { client, valueOf } = connect(scripted());
    const subscription = client.listen(FILTER, { maxBufferedBytes: 150 });
    await subscription.acknowledged;
    await valueOf("change");
    await valueOf("change");
    const details = { option: "maxBufferedBytes", limit: 150 };
    await expect(subscription.closed).resolves.toMatchObject({ kind: "broken", error: { details } });
  });

  it("W-36: subscriptions take no turns of calls", async () => {
    const { client, valueOf } = connect(scripted({}, { maxConcurrentRequests: 1 }));
    const all = [client.listen(FILTER), client.listen(FILTER)];
    await Promise.all(all.map(({ acknowledged }) => acknowledged));
    await expect(valueOf("echo", { a: 1 })).resolves.toEqual({ a: 1 });
  });
});

describe("the official server over stdio", () => {
  const textOf = ({ content }: { readonly content?: unknown }): string =>
    Array.isArray(content) ? String(content[0]?.text) : "";

  it("W-26, W-18, W-45: lists, calls, and tells of progress", async () => {
    const { client, diagnostics } = connect(official());
    await expect(client.discover()).resolves.toMatchObject({ supportedVersions: ["2026-07-28"] });
    const { tools } = await client.listAllTools();
    expect(tools.map(({ name }) => name)).toContain("count");
    const progress: number[] = [];
    const options = { onProgress: (one: { progress: number }) => void progress.push(one.progress) };
    const counted = await client.callTool({ name: "count", arguments: { to: 3 } }, options);
    expect([textOf(counted), progress]).toEqual(["counted", [1, 2, 3]]);
    expect(diagnostics).toEqual([]);
  });

  it("W-40, W-17: an abort reaches the tool", async () => {
    const { client } = connect(official());
    await client.discover();
    const controller = new AbortController();
    const waiting = client.callTool({ name: "wait" }, { signal: controller.signal });
    await client.callTool({ name: "pid" });
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
    await expect.poll(async () => textOf(await client.callTool({ name: "aborted" }))).toBe('["wait"]');
  });

  it("W-33, W-35: a round of elicitation", async () => {
    const form = () => ({ action: "accept", content: { name: "Ada" } }) as const;
    const { client } = connect(official({ handlers: { elicitation: { form } } }));
    expect(textOf(await client.callTool({ name: "greet" }))).toBe("Hello, Ada");
  });

  it("W-37, W-40: a kept subscription is opened again after a kill, with one refresh", async () => {
    const { client } = connect(official());
    const kept = client.keepListening(FILTER, { firstReopenDelayMs: 20 });
    const items = kept[Symbol.asyncIterator]();
    await kept.acknowledged;
    await client.callTool({ name: "grow" });
    await expect(items.next()).resolves.toMatchObject({ value: { kind: "notification" } });
    process.kill(Number(textOf(await client.callTool({ name: "pid" }))), "SIGKILL");
    await expect(items.next()).resolves.toMatchObject({ value: { kind: "refresh", acknowledged: FILTER } });
    await client.callTool({ name: "grow" });
    await expect(items.next()).resolves.toMatchObject({ value: { kind: "notification" } });
    kept.close();
    await expect(kept.closed).resolves.toMatchObject({ kind: "cancelled" });
  });
});
