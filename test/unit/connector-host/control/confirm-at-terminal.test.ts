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

  it("H-33: a question that is cut says so, and how much of it is not shown", async () => {
    const terminal = new ScriptedTerminal(wordIn);
    await createTerminalConfirm({ open: () => terminal })("x".repeat(8_192 + 7));
    expect(terminal.written).toMatch(/x and 7 characters more\nType/);
    const whole = new ScriptedTerminal(wordIn);
    await createTerminalConfirm({ open: () => whole })("x".repeat(8_192));
    expect(whole.written).not.toContain("more");
  });

  it("H-33: one question is asked after the other: what is typed is for the one that is seen last", async () => {
    const typing: ((line: string) => void)[] = [];
    const written: string[] = [];
    const confirm = createTerminalConfirm({
      open: () => ({
        write: (text) => void written.push(text),
        readLine: () => new Promise((resolve) => typing.push(resolve)),
        close: () => undefined,
      }),
    });
    const answers = [confirm("One."), confirm("Two.")];
    await expect.poll(() => typing.length).toBe(1);
    expect(written.join("")).not.toContain("Two.");
    typing[0]?.(wordIn(written.join("")));
    expect(await answers[0]).toBe(true);
    await expect.poll(() => typing.length).toBe(2);
    expect(written.join("")).toContain("Two.");
    typing[1]?.("no");
    expect(await answers[1]).toBe(false);
  });

  it.each(["write", "readLine"] as const)("H-33: a terminal that breaks at %s is none", async (part) => {
    let closed = 0;
    const broken = (): never => {
      throw Object.assign(new Error("EIO"), { code: "EIO" });
    };
    const whole: Terminal = {
      write: () => undefined,
      readLine: () => Promise.resolve(undefined),
      close: () => void (closed += 1),
    };
    const confirm = createTerminalConfirm({ open: () => ({ ...whole, [part]: broken }) });
    await expect(confirm("Do it.")).rejects.toMatchObject({ code: "terminal_required", delivery: "not_sent" });
    expect(closed).toBe(1);
    // The next question is asked all the same.
    await expect(confirm("Do it.")).rejects.toMatchObject({ code: "terminal_required" });
  });

  it("H-33: the word is typed whole, as it is shown", async () => {
    for (const change of [
      (word: string) => word.slice(0, -1),
      (word: string) => `${word}a`,
      (word: string) => word.toUpperCase(),
    ]) {
      const terminal = new ScriptedTerminal((written) => change(wordIn(written)));
      expect(await createTerminalConfirm({ open: () => terminal })("Do it.")).toBe(false);
    }
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
