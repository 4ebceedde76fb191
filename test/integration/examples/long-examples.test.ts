import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import {
  answerFeed,
  answerResult,
  EventFeed,
  likeModernServer,
  messageEvent,
  notificationMessage,
  type ReceivedRequest,
  ScriptedServer,
} from "../../../src/testing/index.js";

interface Running {
  readonly child: ChildProcess;
  /** What it has written so far, line by line. */
  readonly lines: string[];
  readonly ended: Promise<unknown>;
}

/** Runs an example, built, that ends on its own or with the test. */
function start(example: string, ...args: string[]): Running {
  const child = spawn(process.execPath, [`build/examples/${example}.js`, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return { child, lines, ended: once(child, "close") };
}

async function serve(...script: Parameters<typeof ScriptedServer.start>): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(...script);
  onTestFinished(() => server.close());
  return server;
}

const { poll } = expect;
const soon = { timeout: 10_000 };

it.skipIf(process.platform === "win32")(
  "W-36, W-37: the example of subscriptions tells of changes and of gaps, and ends in peace",
  async () => {
    const feeds: EventFeed[] = [];
    const subscribe = ({ message }: ReceivedRequest): EventFeed => {
      const feed = new EventFeed();
      const id: unknown = typeof message === "object" && message !== null && "id" in message ? message.id : undefined;
      say = (method, params) =>
        feed.send(
          messageEvent(
            notificationMessage(`notifications/${method}`, {
              ...params,
              _meta: { "io.modelcontextprotocol/subscriptionId": id },
            }),
          ),
        );
      say("subscriptions/acknowledged", { notifications: { toolsListChanged: true } });
      feeds.push(feed);
      return feed;
    };
    let say: (method: string, params?: object) => void = () => undefined;
    let names = ["a"];
    const server = await serve((request) =>
      request.method === "subscriptions/listen"
        ? answerFeed(subscribe(request))
        : likeModernServer({ tools: names.map((name) => ({ name })) })(request),
    );
    const { child, lines, ended } = start("subscription", server.url);
    await poll(() => lines, soon).toEqual(["first: a"]);
    names = ["a", "b"];
    say("tools/list_changed");
    await poll(() => lines.at(-1), soon).toBe("changed: a, b");
    names = ["b"];
    feeds[0]?.end("cut");
    await poll(() => lines.slice(2), soon).toEqual(["a gap: broken", "after the gap: b"]);
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
    expect(lines.slice(4)).toEqual(["ended: cancelled"]);
    expect(feeds).toHaveLength(2);
  },
);

it("W-42: the example of tasks goes on in another process with the task that the first one stored", async () => {
  const folder = await mkdtemp(join(tmpdir(), "remote-connector-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "task.json");
  const at = "2026-07-28T00:00:00Z";
  const task = { taskId: "t-1", createdAt: at, lastUpdatedAt: at, ttlMs: null, pollIntervalMs: 10 };
  const result = { content: [{ type: "text", text: "240 frames" }] };
  let isDone = false;
  const server = await serve((request) => {
    if (request.method === "tools/call") return answerResult({ resultType: "task", ...task, status: "working" });
    if (request.method !== "tasks/get") return likeModernServer({ tools: [{ name: "render" }] })(request);
    const state = isDone ? { status: "completed", result } : { status: "working" };
    return answerResult({ resultType: "complete", ...task, ...state });
  });
  const asked = (method: string): number => server.requests.filter((request) => request.method === method).length;
  const first = start("resume-task", server.url, file);
  await poll(() => asked("tasks/get"), soon).toBeGreaterThan(1);
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ taskId: "t-1", status: "working" });
  first.child.kill("SIGKILL");
  await first.ended;
  expect(first.lines).toEqual([]);
  isDone = true;
  const second = start("resume-task", server.url, file);
  expect(await second.ended).toEqual([0, null]);
  expect(second.lines).toEqual([`resumed: ${JSON.stringify(result.content)}`]);
  expect(asked("tools/call")).toBe(1);
  expect(existsSync(file)).toBe(false);
  const third = start("resume-task", server.url, file);
  expect(await third.ended).toEqual([0, null]);
  expect(third.lines).toEqual([`called: ${JSON.stringify(result.content)}`]);
});
