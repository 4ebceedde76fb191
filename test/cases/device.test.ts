import { describe, expect, it } from "vitest";
import { answerStatus, type Handler, likeModernServer } from "../../src/testing/index.js";
import { Device, hosting, program, server, soon, startsFile } from "../support/device.js";
import { serve } from "./parties.js";

/** Tells of its starts, and answers nothing at all any more once `wedge` was called. */
const WEDGEABLE = `
  require("fs").appendFileSync(process.argv[1], process.pid + "\\n");
  let isWedged = false;
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const results = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
      "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
      "tools/call": { content: [] },
      ping: {},
    };
    if (params?.name === "wedge") isWedged = true;
    if (id === undefined || isWedged || params?.name === "silent") return;
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
  }).on("close", () => process.exit(0));
`;

/** How long a call may take in these tests, on a clock that is stepped. */
const LIMIT_MS = 1_000;

/** A program that can be wedged, and calls of it that take too long. */
async function wedgeable() {
  const { starts, pids } = startsFile();
  const device = new Device({ stepped: true });
  const route = await device.publish(program(["-e", WEDGEABLE, starts]));
  const call = (name: string): Promise<unknown> =>
    route.client.callTool({ name }, { totalTimeoutMs: LIMIT_MS }).catch((error: unknown) => {
      // As whoever serves agents tells it.
      device.reconciler.onRequest(route, error);
      throw error;
    });
  const timesOut = async (name: string): Promise<void> => {
    const calling = expect(call(name)).rejects.toMatchObject({ code: "timeout", delivery: "unknown" });
    await device.clock.advance(LIMIT_MS);
    await calling;
  };
  return { device, route, pids, call, timesOut };
}

describe("servers of the device", () => {
  it("MB-151: a server whose credentials are dead is shown as connected, or as needing a sign-in though it answers", async () => {
    const modern = likeModernServer({ tools: [{ name: "t" }] });
    let isAccepted = true;
    const guarded: Handler = (request) => (isAccepted ? modern(request) : answerStatus(401));
    const upstream = await serve(guarded);
    const device = new Device();
    const route = await device.publish(server(upstream.url));
    isAccepted = false;
    const failure: unknown = await route.client.callTool({ name: "t" }).catch((error: unknown) => error);
    device.reconciler.onRequest(route, failure);
    // Its tools are gone at once: nobody asks it, or waits for it.
    expect(device.routes.current("docs")).toBeUndefined();
    expect(await device.untilFailed("docs")).toBe("authorization_required");
    const asked = upstream.requests.length;
    await device.clock.advance(400);
    expect(upstream.requests.length).toBe(asked);
    await device.clock.advance(120_000);
    expect(await device.untilFailed("docs")).toBe("authorization_required");
    isAccepted = true;
    device.probe("docs");
    await device.until("docs");
    expect((await device.status("docs"))?.lastError).toBeUndefined();
  });

  it("MB-153: one slow call ends a server for good, or one that answers nothing counts as healthy", async () => {
    const { device, route, pids, call, timesOut } = await wedgeable();
    await timesOut("silent");
    await expect(call("t")).resolves.toMatchObject({ content: [] });
    // A tool that is always too slow is none that is wedged: the server answers a ping.
    for (let times = 0; times < 7; times += 1) await timesOut("silent");
    await expect(call("t")).resolves.toMatchObject({ content: [] });
    expect(device.routes.current("files")).toBe(route);
    expect(pids().length).toBe(1);
    await timesOut("wedge");
    for (let times = 0; times < 4; times += 1) await timesOut("t");
    // The ping went out with the third of them: its ten seconds end with this, and nothing of the pause that follows has passed.
    await device.clock.advance(10_000 - 2 * LIMIT_MS);
    await soon(() => expect(device.routes.current("files")).toBeUndefined());
    expect(device.incidents.map(({ kind }) => kind)).toEqual(["given_up"]);
    expect(await device.untilFailed("files")).toBe("timeout");
    expect(pids().length).toBe(1);
    await device.clock.advance(2_000);
    await device.until("files");
    expect(pids().length).toBe(2);
  });

  it("MB-155: a call that meets the time in which a server is reached anew fails", async () => {
    const { agent, pids, state } = await hosting({ tools: ["pid"], initializeAfterMs: 200 });
    expect((await agent.call("files_pid")).result).toBeDefined();
    process.kill(pids()[0] ?? Number.NaN, "SIGKILL");
    await soon(async () => expect(await state()).not.toBe("ready"));
    const during = await agent.call("files_pid");
    expect(during.result?.["structuredContent"]).toEqual({ pid: pids()[1] });
    expect(pids().length).toBe(2);
  });
});
