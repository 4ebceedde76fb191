import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import {
  type ConnectorHost,
  DirectFactory,
  type HostLogger,
  type LogFields,
} from "../../../src/connector-host/index.js";
import { createMemoryStore } from "../../../src/store/index.js";
import { HeldStore } from "../../support/held-store.js";
import { agentOf, arrived, becomes, holding, HostParties } from "./host-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const SCRIPTED = fileURLToPath(new URL("../../../build/test/programs/scripted-stdio-server.js", import.meta.url));

/** A program that writes its process id into a file when it starts. */
function program(starts: string, script: object = {}) {
  const args = [SCRIPTED, JSON.stringify({ starts, ...script })];
  return { key: "files", displayName: "Files", command: process.execPath, args };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The process of the program that started last. It goes with the test, if the host left it. */
async function pidIn(starts: string): Promise<number> {
  const pid = Number((await readFile(starts, "utf8")).trim().split("\n").at(-1));
  parties.opened.push({ close: () => isAlive(pid) && process.kill(pid, "SIGKILL") });
  return pid;
}

/** Warnings about what closing went on without. */
function warnings(): { readonly logger: HostLogger; readonly left: LogFields[] } {
  const left: LogFields[] = [];
  const warn = (message: string, fields?: LogFields): void => {
    if (message === "Closing the host goes on without parts of it.") left.push(fields ?? {});
  };
  return { logger: { debug() {}, info() {}, error() {}, warn }, left };
}

/** An agent's request of which the end does not come. `cut` resolves with the end of its connection. */
async function halfRequest(host: ConnectorHost): Promise<{ readonly cut: Promise<void> }> {
  const { url, headers } = host.bind({ workspaceId: "w", agentSessionId: "half" });
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const cut = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  parties.opened.push({ close: () => socket.destroy() });
  await once(socket, "connect");
  const lines = ["POST /mcp HTTP/1.1", `Host: ${hostname}:${port}`, `Authorization: ${headers.Authorization}`];
  lines.push("Content-Type: application/json", "Accept: application/json, text/event-stream", "Content-Length: 100");
  socket.write(`${lines.join("\r\n")}\r\n\r\n{`);
  // By the time that a whole request on another connection is answered, this one was read too.
  await agentOf(host).list();
  return { cut };
}

async function isRefused(url: string): Promise<boolean> {
  return fetch(url, { method: "POST" }).then(
    () => false,
    () => true,
  );
}

/** A clock on the wall. */
async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

describe("H-40: closing goes from the outside in", () => {
  it.each([{ force: false }, { force: true }])(
    "H-40: accepting, fences, answers, routes and programs, the store, in this order: %o",
    async (options) => {
      const gateway = await parties.gateway({ a: 1 });
      const store = new HeldStore(createMemoryStore());
      const starts = join(await parties.folder(), "starts");
      const { host } = await parties.host(gateway, ["a"], { stdio: [program(starts)] }, store);
      host.signIn("ada");
      await becomes(host, { a: "ready", files: "ready" });
      const agent = agentOf(host);
      const pid = await pidIn(starts);
      const held = holding(gateway, "a", "tools/call");
      const story: string[] = [];
      const newcomers: Promise<boolean>[] = [];
      const again: Promise<void>[] = [];
      const called = agent.call("a_echo").then(({ error }) => {
        const { delivery }: { delivery?: unknown } = Object(error?.data?.["sh.tutti/delivery"]);
        again.push(host.close());
        story.push(`answered ${String(delivery)}, the program ${isAlive(pid) ? "lives" : "is gone"}`);
      });
      await arrived(held);
      host.onStatus(({ status: { connectorKey, reason } }) => {
        newcomers.push(isRefused(host.url));
        again.push(host.close());
        story.push(`${connectorKey} ${String(reason)}`);
      });
      host.onPublication(({ kind, connectorKey }) => story.push(`${kind} ${connectorKey}`));
      store.onClose = () => {
        again.push(host.close({ force: true }));
        story.push(`store, the program ${isAlive(pid) ? "lives" : "is gone"}`);
      };
      const closing = host.close(options);
      story.push("close returned");
      await Promise.all([closing, called]);
      expect(story).toEqual([
        "withdrawn a",
        "withdrawn files",
        "a signed_out",
        "files host_closed",
        "close returned",
        "answered unknown, the program lives",
        "store, the program is gone",
      ]);
      // Nobody was accepted any more when the first fence was told of.
      expect(await Promise.all(newcomers)).toEqual([true, true]);
      expect([...new Set([...again, host.close()])]).toEqual([closing]);
      expect(again).toHaveLength(4);
      await expect(host.status()).rejects.toThrow();
    },
  );

  it("H-40: a forced close, also in the middle of one that is not, does not wait for an agent", async () => {
    const gateway = await parties.gateway();
    for (const first of [{}, { force: true }]) {
      const { host } = await parties.host(gateway, [], { localServer: { closeTimeoutMs: 60_000 } });
      const { cut } = await halfRequest(host);
      const closing = host.close(first);
      expect(await tookMs(() => host.close({ force: true }))).toBeLessThan(900);
      await Promise.all([closing, cut]);
    }
  });

  it("H-40: an agent, a client, a program and a store that hang keep it no longer than its time, and are named", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const store = new HeldStore(createMemoryStore());
    const { logger, left } = warnings();
    const starts = join(await parties.folder(), "starts");
    const { host } = await parties.host(
      gateway,
      ["a"],
      {
        closeTimeoutMs: 600,
        logger,
        localServer: { closeTimeoutMs: 60_000 },
        stdio: [program(starts, { stubborn: true })],
        factory: (logins) => {
          const clientInfo = { name: "test", version: "1.0.0" };
          const factory = new DirectFactory({ baseUrl: gateway.url, logins, clientInfo });
          return {
            create: (request) =>
              Object.assign(factory.create(request), { close: () => new Promise<void>(() => undefined) }),
          };
        },
      },
      store,
    );
    host.signIn("ada");
    await becomes(host, { a: "ready", files: "ready" });
    await pidIn(starts);
    const { cut } = await halfRequest(host);
    store.onClose = () => store.hold();
    let isCut = false;
    void cut.then(() => (isCut = true));
    const took = await tookMs(() => host.close());
    expect(took).toBeGreaterThan(550);
    expect(took).toBeLessThan(1_500);
    expect(left).toEqual([
      { stage: "answers", parts: ["server"] },
      { stage: "routes", parts: expect.arrayContaining(["programs"]) },
      { stage: "store", parts: ["store"] },
    ]);
    // Long before the server would have given it up by itself.
    expect(isCut).toBe(true);
    store.release();
  });
});
