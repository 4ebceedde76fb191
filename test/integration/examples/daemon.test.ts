import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { BoundAgent } from "../../../src/connector-host/index.js";
import { RawAgent } from "../../support/agent.js";
import { releaseOf } from "../../support/releases.js";
import { authorizingConnector, Cleanup, startCredentialUpstream, startGateway } from "../gateway/support.js";

const cleanup = new Cleanup();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "daemon-"));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "releases"));
  await writeFile(join(folder, "releases", "notes.json"), JSON.stringify(releaseOf("notes")));
  await writeFile(join(folder, "ada.session"), "s-ada\n");
});
afterEach(() => cleanup.run());

/** The example, built, and what it says. */
class Daemon {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: string[] = [];
  readonly ended: Promise<unknown[]>;

  constructor(gateway: string) {
    const args = ["build/examples/daemon.js", folder, gateway, "ada"];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = once(this.#child, "exit");
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#lines.push(line));
    cleanup.add(() => this.#child.kill("SIGKILL"));
  }

  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  kill(signal: "SIGKILL" | "SIGTERM"): void {
    this.#child.kill(signal);
  }

  /** The next line that begins so; what was said before it is forgotten. */
  async hears(start: string): Promise<string> {
    const found = (): number => this.#lines.findIndex((line) => line.startsWith(start));
    await expect.poll(found, { timeout: 15_000 }).toBeGreaterThanOrEqual(0);
    return this.#lines.splice(0, found() + 1).at(-1) ?? "";
  }
}

it("P-10, P-11, P-12, R-10: the example publishes what is authorized, also after a kill, and takes it away", async () => {
  const upstream = await startCredentialUpstream(cleanup, (header) => header === "Bearer key-1");
  const authorizing = { kind: "secret", verify: (key: string) => key === "key-1" } as const;
  const gateway = await startGateway(cleanup, [authorizingConnector("notes", upstream.url, authorizing)]);
  const toolsOf = async (line: string): Promise<readonly string[]> => {
    const bound: Pick<BoundAgent, "url" | "headers"> = JSON.parse(line.slice("agent ".length));
    return (await new RawAgent(bound).list()).names;
  };

  const first = new Daemon(gateway.origin);
  await first.hears("agent ");
  first.say("status");
  expect(await first.hears("notes")).toMatch(/^notes: (?:offline \(account_not_ready\)|authorization_required)/);
  first.say("authorize notes wrong");
  expect(await first.hears("failed")).toBe("failed authorization_failed");
  first.say("authorize notes key-1");
  await first.hears("published notes");
  expect(await first.hears("authorized")).toBe("authorized notes true");
  first.kill("SIGKILL");
  await first.ended;

  const second = new Daemon(gateway.origin);
  const agent = await second.hears("agent ");
  await second.hears("published notes");
  expect(await toolsOf(agent)).toEqual([expect.stringMatching(/^notes_/)]);
  second.say("disconnect notes");
  await second.hears("withdrawn notes");
  expect(await second.hears("disconnected")).toBe("disconnected notes true");
  expect(await toolsOf(agent)).toEqual([]);
  second.kill("SIGTERM");
  expect(await second.ended).toEqual([0, null]);
});
