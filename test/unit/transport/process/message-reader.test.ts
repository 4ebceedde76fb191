import { describe, expect, it } from "vitest";
import { MessageReader } from "../../../../src/transport/process/message-reader.js";
import type { Diagnostic } from "../../../../src/protocol/index.js";
import { Redaction } from "../../../../src/transport/process/index.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Read {
  readonly messages: readonly unknown[];
  readonly raw: readonly string[];
  readonly overlong: readonly unknown[];
  readonly diagnostics: readonly Diagnostic[];
}

function read(
  chunks: readonly Uint8Array[],
  options: { batches?: boolean; limit?: number; secrets?: string[] } = {},
): Read {
  const messages: unknown[] = [];
  const raw: string[] = [];
  const overlong: unknown[] = [];
  const diagnostics: Diagnostic[] = [];
  const reader = new MessageReader(
    { maxLineBytes: options.limit ?? 10_000, redaction: new Redaction(options.secrets ?? []) },
    {
      onMessage: (value, bytes) => {
        messages.push(value);
        raw.push(decoder.decode(bytes));
      },
      onOverlong: (envelope) => overlong.push(envelope),
      onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    },
  );
  if (options.batches === true) reader.acceptBatches();
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { messages, raw, overlong, diagnostics };
}

function readText(text: string, options?: Parameters<typeof read>[1]): Read {
  return read([encoder.encode(text)], options);
}

describe("MessageReader", () => {
  it("L-13: reads one message a line, with the bytes that it came in", () => {
    const { messages, raw, diagnostics } = readText('\uFEFF{"id":1, "n":1.0}\r\n\n{"id":2}\n');
    expect(messages).toEqual([{ id: 1, n: 1 }, { id: 2 }]);
    expect(raw).toEqual(['{"id":1, "n":1.0}', '{"id":2}']);
    expect(diagnostics).toEqual([]);
  });

  it("L-13: skips stray text and reports it once, with a bounded beginning", () => {
    const { messages, diagnostics } = readText(
      `Server \u001B[32mstarted\u0007${"!".repeat(500)}\n{"id":1}\n42\n"text"\nnull\n{broken\n{"id":2}\n`,
    );
    expect(messages).toEqual([{ id: 1 }, { id: 2 }]);
    expect(diagnostics).toMatchObject([{ kind: "not_a_message" }]);
    expect(diagnostics[0]?.message).toContain("Server started!!!");
    expect(diagnostics[0]?.message.length).toBeLessThan(300);
  });

  it("F-6: shows no secret of a stray line, one at the end of the snippet included", () => {
    for (let before = 180; before <= 205; before += 1) {
      const { diagnostics } = readText(`${"x".repeat(before)}0123456789\n`, { secrets: ["0123456789"] });
      expect(diagnostics[0]?.message).not.toMatch(/\d/);
    }
  });

  it("hands an array on whole until batches are accepted, then each element with its own bytes", () => {
    const line = '[ {"id":1,"t":"a,]b"} , {"id":2,"n":[1,{"m":[]}]},3 ]\n';
    expect(readText(line).messages).toEqual([[{ id: 1, t: "a,]b" }, { id: 2, n: [1, { m: [] }] }, 3]]);
    const { messages, raw } = readText(line, { batches: true });
    expect(messages).toEqual([{ id: 1, t: "a,]b" }, { id: 2, n: [1, { m: [] }] }, 3]);
    expect(raw).toEqual(['{"id":1,"t":"a,]b"}', '{"id":2,"n":[1,{"m":[]}]}', "3"]);
    expect(readText(" [ ] \n", { batches: true }).messages).toEqual([]);
  });

  it("L-13: reads a last line without its end only when it is whole, at every place of the cut", () => {
    const line = encoder.encode('{"jsonrpc":"2.0","id":1,"result":{"text":"é😀","n":12}}\n');
    for (let at = 0; at <= line.length; at += 1) {
      const { messages, diagnostics } = read([line.subarray(0, at)]);
      const isWhole = at >= line.length - 1;
      expect(messages, `cut at ${String(at)}`).toHaveLength(isWhole ? 1 : 0);
      const kind = at === line.length - 1 ? "unterminated_event" : "not_a_message";
      expect(diagnostics.map((diagnostic) => diagnostic.kind)).toEqual(at === 0 || at === line.length ? [] : [kind]);
    }
  });

  it("F-10: tells of a line that is too long, and goes on", () => {
    const text = `{"id":3,"result":"${"x".repeat(100)}"}\n{"id":4}\n`;
    const { overlong, messages } = readText(text, { limit: 50 });
    expect(overlong).toEqual([{ id: 3, hasMethod: false }]);
    expect(messages).toEqual([{ id: 4 }]);
  });
});
