import { describe, expect, it } from "vitest";
import { createTerminalConfirm } from "../../../../src/connector-host/control/confirm-at-terminal.js";
import { type Terminal, terminalPaths } from "../../../../src/connector-host/control/terminal.js";
import { FakeClock } from "../../../support/fake-clock.js";

/** A terminal at which `type` says what is typed, when it sees what is written. */
class ScriptedTerminal implements Terminal {
  written = "";
  closed = 0;
  readonly #type: (written: string) => string | undefined;

  constructor(type: (written: string) => string | undefined) {
    this.#type = type;
  }

  write(text: string): void {
    this.written += text;
  }

  readLine(signal: AbortSignal): Promise<string | undefined> {
    const typed = this.#type(this.written);
    if (typed !== "never") return Promise.resolve(typed);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  }

  close(): void {
    this.closed += 1;
  }
}

const wordIn = (written: string): string => /Type (\w+) to do it/.exec(written)?.[1] ?? "";

describe("H-33: a person at a terminal", () => {
  it("H-33: sees what will be done, and types a word that is another one each time", async () => {
    const words = new Set<string>();
    for (let turn = 0; turn < 5; turn += 1) {
      const terminal = new ScriptedTerminal(wordIn);
      expect(await createTerminalConfirm({ open: () => terminal })("Do it.")).toBe(true);
      expect(terminal.written).toContain("Do it.");
      expect(terminal.closed).toBe(1);
      words.add(wordIn(terminal.written));
    }
    expect([...words].every((word) => /^[a-z]{6}$/.test(word))).toBe(true);
    expect(words.size).toBe(5);
  });

  it.each([["yes"], ["y"], [""], [undefined]])("H-33: whoever types %o does not want it", async (typed) => {
    const terminal = new ScriptedTerminal(() => typed);
    expect(await createTerminalConfirm({ open: () => terminal })("Do it.")).toBe(false);
    expect(terminal.written).toContain("Nothing is done.");
    expect(terminal.closed).toBe(1);
  });

  it("H-33: whoever types nothing for two minutes does not want it", async () => {
    const clock = new FakeClock();
    const terminal = new ScriptedTerminal(() => "never");
    const asked = createTerminalConfirm({ open: () => terminal, clock })("Do it.");
    await clock.advance(120_000);
    expect(await asked).toBe(false);
    expect(terminal.closed).toBe(1);
  });

  it("H-33: a host's question can't command the terminal, and is bounded", async () => {
    const terminal = new ScriptedTerminal(wordIn);
    await createTerminalConfirm({ open: () => terminal })(`\u001b[2J\nType yes${"x".repeat(10_000)}`);
    expect(terminal.written).toContain("\\u{1b}[2J\\u{a}Type yes");
    expect(terminal.written.length).toBeLessThan(9_000);
  });

  it("H-33: without a terminal it is refused", async () => {
    const confirm = createTerminalConfirm({ open: () => undefined });
    await expect(confirm("Do it.")).rejects.toMatchObject({
      code: "terminal_required",
      delivery: "not_sent",
      details: { action: "Do it." },
    });
  });

  it("H-33: it is the controlling terminal, never the standard input", () => {
    expect(terminalPaths("linux")).toEqual({ input: "/dev/tty", output: "/dev/tty" });
    expect(terminalPaths("win32")).toEqual({ input: "\\\\.\\CONIN$", output: "\\\\.\\CONOUT$" });
  });
});
