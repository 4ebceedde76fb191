import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRemoteConnectorError } from "../../../src/errors.js";
import { systemOpener } from "../../../src/oauth/code-flow/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const PATH = process.env["PATH"];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "opener-"));
  // Nothing else is found: no test of this file opens a browser.
  process.env["PATH"] = folder;
});

afterEach(async () => {
  if (PATH === undefined) delete process.env["PATH"];
  else process.env["PATH"] = PATH;
  await rm(folder, { recursive: true });
});

/** A program that writes its arguments down, each with a NUL at its end, as a whole, before it does what is asked of it. */
async function install(name: string, then = ""): Promise<void> {
  const path = join(folder, name);
  const record = `/bin/mv "${folder}/part" "${folder}/args"`;
  await writeFile(path, `#!/bin/sh\nprintf '%s\\0' "$@" > "${folder}/part"\n${record}\n${then}\n`);
  await chmod(path, 0o700);
}

async function recorded(): Promise<readonly string[]> {
  while (!existsSync(join(folder, "args"))) await settle();
  return (await readFile(join(folder, "args"), "utf8")).split("\0").slice(0, -1);
}

async function failureOf(opening: void | Promise<void>): Promise<unknown> {
  const error: unknown = await Promise.resolve(opening).catch((caught: unknown) => caught);
  if (!isRemoteConnectorError(error)) return error;
  expect(JSON.stringify([error.message, error.cause, error])).not.toContain("s-secret");
  return [error.code, error.details, error.delivery];
}

const METACHARACTERS = "https://as.example.com/a?state=s&x=$(touch%20y);`id`|cat>z&q='%22*?~!{a,b}^%25PATH%25\\n";

describe.skipIf(process.platform === "win32")("A-5: the system's opener", () => {
  it.each(["https://as.example.com/authorize?state=s", "http://127.0.0.1:1/a", "http://[::1]:1/a", METACHARACTERS])(
    "hands over %s as one argument, with no shell between",
    async (url) => {
      await install("xdg-open");
      await systemOpener({ platform: "linux" })(url);
      expect(await recorded()).toEqual([new URL(url).href]);
    },
  );

  it("hands over no white space, no quote and no line end, whatever the URL has", async () => {
    await install("xdg-open");
    await systemOpener({ platform: "linux" })('https://as.example.com/a b?c=d e"f<g>\r\n-x');
    expect(await recorded()).toEqual(["https://as.example.com/a%20b?c=d%20e%22f%3Cg%3E-x"]);
  });

  it("is `open` on macOS", async () => {
    await install("open");
    await systemOpener({ platform: "darwin" })("https://as.example.com/");
    expect(await recorded()).toEqual(["https://as.example.com/"]);
  });

  it.each([
    "http://as.example.com/?state=s-secret",
    "http://127.0.0.1.evil.example/?state=s-secret",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "ms-settings:x",
    "--help",
    "-a Calculator",
    "",
    "https://user:s-secret@as.example.com/",
    "https://as.example.com/#s-secret",
  ])("refuses %j, and starts nothing", async (url) => {
    await install("xdg-open");
    expect(await failureOf(systemOpener({ platform: "linux" })(url))).toMatchObject(["invalid_url", {}, "not_sent"]);
    expect(existsSync(join(folder, "args"))).toBe(false);
  });

  it("rejects when there is no such program", async () => {
    const opening = systemOpener({ platform: "linux" })("https://as.example.com/?state=s-secret");
    const details = { command: "xdg-open", reason: "ENOENT" };
    expect(await failureOf(opening)).toEqual(["spawn_failed", details, "not_sent"]);
  });

  it.skipIf(process.platform !== "linux")("rejects when the URL is longer than the system takes", async () => {
    await install("xdg-open");
    const url = `https://as.example.com/?state=s-secret&x=${"x".repeat(140_000)}`;
    const details = { command: "xdg-open", reason: "E2BIG" };
    expect(await failureOf(systemOpener({ platform: "linux" })(url))).toEqual(["spawn_failed", details, "not_sent"]);
  });

  it.each([
    ["exit 3", "ended by exit code 3"],
    ["kill -9 $$", "ended by SIGKILL"],
  ])("rejects when the program gives up: %s", async (then, reason) => {
    await install("xdg-open", then);
    const clock = new FakeClock();
    const opening = systemOpener({ platform: "linux", clock })("https://as.example.com/?state=s-secret");
    expect(await failureOf(opening)).toEqual(["spawn_failed", { command: "xdg-open", reason }, "not_sent"]);
    expect(clock.pending).toBe(0);
  });

  it("waits a second for a program that goes on, and leaves it alone", async () => {
    await install("xdg-open", `read line < "${folder}/pipe"`);
    process.env["PATH"] = PATH;
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [join(folder, "pipe")]);
    process.env["PATH"] = folder;
    const clock = new FakeClock();
    let isOpened = false;
    const opening = Promise.resolve(systemOpener({ platform: "linux", clock })("https://as.example.com/"));
    void opening.then(() => (isOpened = true));
    await recorded();
    await clock.advance(999);
    expect(isOpened).toBe(false);
    await clock.advance(1);
    await opening;
    // It is still there to read: writing would fail otherwise, or wait for ever.
    await writeFile(join(folder, "pipe"), "done\n", { flag: "r+" });
  });
});
