import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isRunning } from "../../modern-client/stdio-servers.js";
import { Device, hosting, program, published, scripted, soon, startsFile } from "../../../support/device.js";

/** Answers like a server of 2025-11-25 without any tools capability. */
const TOOLLESS = `
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const result = { protocolVersion: "2025-11-25", capabilities: { prompts: {} }, serverInfo: { name: "s", version: "1" } };
    if (method === "initialize") console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }).on("close", () => process.exit(0));
`;

/** Takes its time to leave; tells at its start of those that had started before it and have not left. */
const LINGERING = `
  const fs = require("fs");
  const [, starts, name] = process.argv;
  const before = fs.existsSync(starts) ? fs.readFileSync(starts, "utf8").trim().split("\\n") : [];
  const isThere = (pid) => { try { return process.kill(Number(pid), 0); } catch { return false; } };
  const left = before.filter(isThere).length;
  fs.appendFileSync(starts, process.pid + "\\n");
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const results = {
      initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
      "tools/list": { tools: [{ name: name + left, inputSchema: { type: "object" } }] },
    };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }));
  }).on("close", () => setTimeout(() => process.exit(0), 400));
`;

describe("managed programs", () => {
  it("H-2 H-8 H-9: server-everything is started, listed, called, and gone when it is switched off", async () => {
    const device = new Device();
    const route = await device.publish(published("server-everything"));
    expect(route.client.era).toBe("legacy");
    expect([...route.tools.keys()]).toContain("echo");
    const result = await route.client.callTool(
      { name: "echo", arguments: { message: "hello" } },
      { outputCheck: "off" },
    );
    expect(JSON.stringify(result.content)).toContain("hello");
    device.forget("files");
    await soon(() => expect(device.count("removed")).toBe(1));
    expect(device.routes.current("files")).toBeUndefined();
  });

  it("H-2 H-9: the run only starts a program; one that is slow stays starting and is not ended", async () => {
    const { starts, pids } = startsFile();
    const device = new Device();
    device.define(scripted("restless-stdio-server", { starts, initializeAfterMs: 300 }));
    await soon(async () => expect((await device.status("files"))?.activity).toBe("starting"));
    await device.controller.idle();
    // What the controller calls overdue, and looks at again, is on its way all the same.
    await device.clock.advance(600_000);
    expect(device.routes.current("files")).toBeUndefined();
    await device.until("files");
    expect(pids().length).toBe(1);
    expect((await device.status("files"))?.failures).toBe(0);
  });

  it("H-2: a program that is not ready by its deadline is ended, and started again after a pause", async () => {
    const { starts, pids } = startsFile();
    const device = new Device();
    device.define(
      scripted("scripted-stdio-server", { starts, silentStart: true }, { deadlines: { readyTimeoutMs: 200 } }),
    );
    expect(await device.untilFailed("files")).toBe("timeout");
    expect(pids().filter(isRunning)).toEqual([]);
    const started = pids().length;
    await device.clock.advance(2_000);
    await soon(() => expect(pids().length).toBeGreaterThan(started));
  });

  it("H-2 H-9: a program that ends loses its route at once, and is started again after a pause", async () => {
    const { starts, pids } = startsFile();
    const device = new Device();
    const first = await device.publish(scripted("restless-stdio-server", { starts }));
    await expect(first.client.callTool({ name: "die" })).rejects.toMatchObject({ code: "process_exited" });
    await soon(() => expect(first.state).toBe("revoked"));
    expect(device.routes.current("files")).toBeUndefined();
    expect(await device.untilFailed("files")).toBe("process_exited");
    expect(pids().length).toBe(1);
    await device.clock.advance(2_000);
    const second = await device.until("files");
    expect(second.generation).toBe(first.generation);
    expect(pids().length).toBe(2);
    expect(device.count("lost")).toBe(1);
  });

  it("H-2: a program that can't be started, or ends at once, fails with growing pauses", async () => {
    const { starts, pids } = startsFile();
    const device = new Device();
    device.define(scripted("restless-stdio-server", { starts, exits: 3 }));
    expect(await device.untilFailed("files")).toBe("process_exited");
    const status = await device.status("files");
    expect([status?.activity, status?.failures]).toEqual(["waiting", 1]);
    await device.clock.advance(2_000);
    await device.until("files");
    expect(pids().filter(isRunning).length).toBe(1);
  });

  it("H-2 H-8 L-12 L-14: a program has its arguments, variables and folder, and tells no secret by its last words", async () => {
    const { starts } = startsFile();
    const device = new Device({
      secrets: { read: () => "s3cret" },
      environment: { read: (name) => (name === "REGION" ? "north" : undefined) },
    });
    const TELLING = `
      const { TOKEN, REGION, HOME, FOREIGN } = process.env;
      require("fs").writeFileSync(process.argv[1], JSON.stringify([process.argv[2], TOKEN, REGION, HOME, FOREIGN, process.cwd()]));
      console.error(process.argv[2], TOKEN);
      process.exit(3);
    `;
    process.env["FOREIGN"] = "not for others";
    onTestFinished(() => void delete process.env["FOREIGN"]);
    const cwd = dirname(starts);
    const env = { TOKEN: { secret: "t" }, REGION: { env: "REGION" }, HOME: null };
    device.define(program(["-e", TELLING, starts, ["--key=", { secret: "k" }]], { env, cwd }));
    expect(await device.untilFailed("files")).toBe("process_exited");
    expect(JSON.parse(readFileSync(starts, "utf8"))).toEqual(["--key=s3cret", "s3cret", "north", null, null, cwd]);
    expect(JSON.stringify([device.events, device.incidents, await device.status("files")])).not.toContain("s3cret");
  });

  it("H-9: a failed or empty list of a living program is degraded, until it lists tools", async () => {
    const { starts, pids } = startsFile();
    const device = new Device();
    const route = await device.publish(scripted("restless-stdio-server", { starts, listErrors: 1 }), "degraded");
    expect(route.tools.size).toBe(0);
    expect(device.incidents.map(({ kind }) => kind)).toEqual(["list_failed"]);
    expect((await device.status("files"))?.failures).toBe(0);
    await device.clock.advance(30_000);
    expect(await device.until("files", "ready")).toBe(route);
    expect(device.relisted).toEqual(["files"]);
    expect(pids().length).toBe(1);
  });

  it("H-9: a program that tells of a change while it has no tools is asked again soon", async () => {
    const device = new Device();
    const route = await device.publish(scripted("restless-stdio-server", { tools: [] }), "degraded");
    await route.client.callTool({ name: "storm", arguments: { changes: 200 } });
    await soon(async () => {
      await device.clock.advance(1_000);
      expect((await device.status("files"))?.readiness).toBe("ready");
    });
    const { structuredContent } = await route.client.callTool({ name: "lists" });
    expect(structuredContent).toEqual({ lists: 2 });
  });

  it("H-9: a program without a tools capability is degraded", async () => {
    const device = new Device();
    await device.publish(program(["-e", TOOLLESS]), "degraded");
    const prompts = new Device();
    await prompts.publish(program(["-e", TOOLLESS], { capabilities: ["prompts"] }), "ready");
  });

  it("H-2: another definition ends the program before the next one is started", async () => {
    const { starts, pids } = startsFile();
    const device = new Device();
    const first = await device.publish(program(["-e", LINGERING, starts, "a"]));
    const second = await device.publish(program(["-e", LINGERING, starts, "b"]));
    expect(first.state).toBe("revoked");
    expect([first, second].map(({ tools }) => [...tools.keys()])).toEqual([["a0"], ["b0"]]);
    expect(pids().length).toBe(2);
    expect(pids().filter(isRunning)).toEqual(pids().slice(1));
  });

  it("H-2: one that is switched off while it starts is ended, and leaves nothing", async () => {
    const { starts, pids } = startsFile();
    const device = new Device();
    device.define(scripted("scripted-stdio-server", { starts, silentStart: true }));
    await soon(() => expect(pids().length).toBe(1));
    device.forget("files");
    await soon(() => expect(device.count("removed")).toBe(1));
    expect(pids().filter(isRunning)).toEqual([]);
  });

  it("H-2 L-15: what a program has started is ended with it, whoever ends it", async () => {
    const device = new Device({ stdio: { closeGraceMs: 100 } });
    const route = await device.publish(scripted("scripted-stdio-server", { grandchild: "stubborn" }));
    const { structuredContent } = await route.client.callTool({ name: "grandchild" });
    const pid = Number(JSON.stringify(structuredContent).match(/\d+/)?.[0]);
    expect(isRunning(pid)).toBe(true);
    device.forget("files");
    await soon(() => expect(device.count("removed")).toBe(1));
    expect(isRunning(pid)).toBe(false);
    expect(device.incidents.filter(({ kind }) => kind === "close_failed")).toEqual([]);
  });

  it("H-8 H-9: a program of the modern era is met after it refused initialize", async () => {
    const device = new Device();
    const route = await device.publish(scripted("official-stdio-server", {}));
    expect(route.client.era).toBe("modern");
    const result = await route.client.callTool({ name: "pid" }, { outputCheck: "off" });
    expect(result.content?.length).toBe(1);
    process.kill(Number(JSON.stringify(result.content).match(/\d+/)?.[0]), "SIGKILL");
    await soon(() => expect(device.routes.current("files")).toBeUndefined());
    device.probe("files");
    await device.until("files");
  });

  it("MB-145 H-18: the tools of a server that died are unknown, though it could be started again", async () => {
    const { agent, pids, state } = await hosting({ tools: ["pid", "die"] });
    const listed = await agent.list();
    expect(listed.names).toEqual(["files_pid", "files_die"].toSorted());
    // What it may have run is not made again.
    const dying = agent.call("files_die");
    expect((await dying).error?.data).toMatchObject({
      "sh.tutti/delivery": { code: "process_exited", delivery: "unknown" },
    });
    expect((await agent.list()).names).toEqual(listed.names);
    const calls = await Promise.all(Array.from({ length: 5 }, () => agent.call("files_pid")));
    const [first, second] = pids();
    expect(calls.map(({ result }) => result?.["structuredContent"])).toEqual(calls.map(() => ({ pid: second })));
    expect([pids().length, first === second, await state()]).toEqual([2, false, "ready"]);
  });
});
