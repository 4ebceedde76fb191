import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type CompiledStore, compileStore } from "../../store/store-program.js";
import { HostParties } from "../host-parties.js";
import { adminHost } from "./admin-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

/** Wants permissions of a tool, one after the other, as an agent would that can start programs, and says what came of each. */
const PROGRAM = `
  const { connectToHost } = await import(new URL("./connector-host/control/index.js", import.meta.url));
  const [stateDirectory, ...permissions] = args;
  const connection = await connectToHost({ stateDirectory });
  for (const permission of permissions) {
    const outcome = await connection.admin
      .setPermission("a", "drop", permission)
      .then(() => "done", (error) => [error.code, error.delivery, error.details.reason ?? ""].join(" ").trim());
    console.log("OUTCOME " + outcome);
  }
  await connection.close();
`;

/** `script` of util-linux: it gives a program a terminal of its own. */
const hasScript = spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

describe("H-33: programs that want more to be permitted", () => {
  let compiled: CompiledStore;
  let file: string;

  beforeAll(async () => {
    compiled = await compileStore(["connector-host/control/index.ts"]);
    // Started once, so that its file can be started in other ways.
    const program = await compiled.start(PROGRAM);
    file = program.process.spawnargs[1] ?? "";
    program.process.kill("SIGKILL");
    await program.ended;
  }, 60_000);

  afterAll(() => compiled.remove());

  /** What a program says of what it wanted, in order. */
  function outcomes(said: string): readonly string[] {
    return Array.from(said.matchAll(/OUTCOME (.*)/g), ([, outcome = ""]) => outcome.trim());
  }

  /** Runs it without a terminal, with `input` piped in. */
  async function withoutTerminal(directory: string, permissions: readonly string[], input: string) {
    // A session of its own has no controlling terminal.
    const child = spawn(process.execPath, [file, directory, ...permissions], {
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end(input);
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await new Promise((resolve) => child.once("close", resolve));
    return outcomes(said);
  }

  /** Runs it at a terminal, and types what `type` answers to each word that is shown there. */
  async function atTerminal(
    directory: string,
    permissions: readonly string[],
    type: (word: string, turn: number) => string,
  ) {
    const command = [process.execPath, file, directory, ...permissions].map((part) => `'${part}'`).join(" ");
    const options = ["--quiet", "--flush", "--return", "--command", command, join(directory, "typescript")];
    const child = spawn("script", options, { stdio: ["pipe", "pipe", "inherit"] });
    let shown = "";
    let turns = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      const words = Array.from(shown.matchAll(/Type (\w+) to do it, anything else not to: /g), ([, word = ""]) => word);
      for (; turns < words.length; turns += 1) child.stdin.write(`${type(words[turns] ?? "", turns)}\n`);
    });
    await new Promise((resolve) => child.once("close", resolve));
    return { outcomes: outcomes(shown), shown };
  }

  it("H-33: without a terminal are refused, whatever is piped into them, but for what permits less", async () => {
    const { directory, host } = await adminHost(parties);
    await host.connectors.setPermission("a", "drop", "ask");
    const said = await withoutTerminal(directory, ["allow", "ask", "off", "ask"], "yes\nabcdef\n");
    expect(said).toEqual(["terminal_required not_sent", "done", "done", "terminal_required not_sent"]);
    expect(host.connectors.permissions("a").permissions).toEqual({ drop: "off" });
  });

  it.runIf(hasScript)(
    "H-33: at a terminal ask there, each time for another word, and do it for that one only",
    async () => {
      const { directory, host } = await adminHost(parties);
      await host.connectors.setPermission("a", "drop", "off");
      const typed: string[] = [];
      const seen = await atTerminal(directory, ["ask", "allow", "ask", "allow"], (word, turn) => {
        typed.push(word);
        // The second one is answered with the word of the first.
        return turn === 1 ? (typed[0] ?? "") : word;
      });
      expect(seen.outcomes).toEqual(["done", "cancelled not_sent not_confirmed", "done", "done"]);
      expect(new Set(typed).size).toBe(3);
      expect(seen.shown).toContain('Change the permission of the tool "drop" of "a" from off to ask.');
      expect(seen.shown).toContain("Nothing is done.");
      expect(host.connectors.permissions("a").permissions).toEqual({ drop: "allow" });
    },
  );
});
