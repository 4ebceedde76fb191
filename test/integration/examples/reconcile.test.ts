import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { type Site, Sites } from "../../../examples/reconcile/sites.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

/** Sites that say what is done with them, and end when they are told to. */
class FakeMachine {
  readonly clock = new FakeClock();
  readonly told: string[] = [];
  /** Of the sites that are open, by the text that they serve. */
  readonly ends = new Map<string, () => void>();
  /** So many openings fail. */
  failures = 0;

  readonly open = async (text: string): Promise<Site> => {
    this.told.push(`open ${text}`);
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("no port is free");
    }
    const gone = new Promise<void>((resolve) => this.ends.set(text, resolve));
    const close = (): void => {
      this.told.push(`close ${text}`);
      this.ends.get(text)?.();
      this.ends.delete(text);
    };
    return { url: `site:${text}`, gone, close };
  };
}

it("R-4, R-7: the example converges what is no MCP: retries, changes, exits and removals", async () => {
  const machine = new FakeMachine();
  const { clock, told } = machine;
  const sites = new Sites({ clock, random: () => 0.5, open: machine.open });
  const activity = async (): Promise<string | undefined> => (await sites.controller.status("sites"))[0]?.activity;

  machine.failures = 2;
  await sites.set("home", "v1");
  expect(await activity()).toBe("inactive");
  sites.start();
  await clock.advance(0);
  expect(await activity()).toBe("waiting");
  // Half of a second, and then half of two.
  await clock.advance(499);
  expect(told).toEqual(["open v1"]);
  await clock.advance(1);
  expect(told).toEqual(["open v1", "open v1"]);
  await clock.advance(999);
  expect(sites.url("home")).toBeUndefined();
  await clock.advance(1);
  expect(sites.url("home")).toBe("site:v1");
  expect(await activity()).toBe("converged");

  told.length = 0;
  await sites.set("home", "v2");
  await clock.advance(0);
  expect(told).toEqual(["open v2", "close v1"]);

  // It ends by itself: not there at once, and there again after a pause.
  await clock.advance(60_000);
  machine.ends.get("v2")?.();
  await settle();
  expect(sites.url("home")).toBeUndefined();
  await clock.advance(500);
  expect(sites.url("home")).toBe("site:v2");

  told.length = 0;
  await sites.set("home", undefined);
  // Revoked with the transaction, before any run.
  expect(told).toEqual(["close v2"]);
  await clock.advance(0);
  expect(await activity()).toBeUndefined();
  await sites.close();
  expect(clock.pending).toBe(0);
});

it("the page about reconcile has the example, and the program that uses it runs", async () => {
  const example = await readFile("examples/reconcile/sites.ts", "utf8");
  expect(await readFile("docs/reconcile.md", "utf8")).toContain(`\`\`\`ts\n${example}\`\`\``);
  const { stdout } = await promisify(execFile)(process.execPath, ["build/examples/reconcile.js"]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "home: converged, serves welcome",
    "shop: converged, serves sold out",
    "shop: converged, serves open",
  ]);
  const kindsOf = (key: string): (string | undefined)[] =>
    lines.filter((line) => line.endsWith(` ${key}`)).map((line) => line.split(" ")[1]);
  expect(kindsOf("home")).toEqual(["planned", "run_started", "observed", "planned", "run_started", "removed"]);
  expect(kindsOf("shop")).toEqual(["planned", "run_started", "observed", "planned", "run_started", "observed"]);
  expect(lines.at(-1)).toBe("4 runs, 0 failed");
});

it("F-9: the example of a test with a clock that is stepped passes, and takes no time", async () => {
  const began = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, ["--test", "build/examples/fake-clock.js"]);
  expect(stdout).toContain("# pass 1");
  expect(stdout).toContain("# fail 0");
  expect(performance.now() - began).toBeLessThan(10_000);
});
