import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type ContentCoding, ContentDecoder, contentCodingOf } from "../../../src/transport/content-decoder.js";
import { settle } from "../../support/fake-clock.js";

/** Decodes pieces, respecting room, and tells how it ended. */
class Decoding {
  text = "";
  readonly decoder: ContentDecoder;
  readonly ended: Promise<string>;
  told = 0;
  onText: (() => void) | undefined;
  #end: (how: string) => void = () => undefined;
  #room: (() => void) | undefined;

  constructor(coding: ContentCoding) {
    this.ended = new Promise((resolve) => {
      this.#end = (how) => {
        this.told += 1;
        resolve(how);
      };
    });
    this.decoder = new ContentDecoder(coding, {
      onDecoded: (chunk) => {
        this.text += Buffer.from(chunk).toString("latin1");
        this.onText?.();
      },
      onRoom: () => this.#room?.(),
      onDecodedEnd: () => this.#end("end"),
      onDecodeFailure: (error) => this.#end(`failure ${String(Reflect.get(error, "code"))}`),
    });
  }

  async pushAll(pieces: Iterable<Uint8Array>): Promise<void> {
    for (const piece of pieces) {
      if (!this.decoder.push(piece)) await new Promise<void>((resolve) => (this.#room = resolve));
    }
  }

  cut(): void {
    this.decoder.cut(() => this.#end("cut"));
  }
}

function* piecesOf(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

const TEXT = Array.from({ length: 300 }, (_, i) => `line ${String(i * 7919)}`).join("\n");

const CODED: readonly (readonly [string, ContentCoding, Buffer])[] = [
  ["gzip", "gzip", gzipSync(TEXT)],
  ["two members of gzip", "gzip", Buffer.concat([gzipSync(TEXT.slice(0, 500)), gzipSync(TEXT.slice(500))])],
  ["deflate", "deflate", deflateSync(TEXT)],
  ["raw deflate", "deflate", deflateRawSync(TEXT)],
  ["br", "br", brotliCompressSync(TEXT)],
];

describe("contentCodingOf", () => {
  it.each([
    ["gzip", "gzip"],
    [" X-GZip ", "gzip"],
    ["deflate", "deflate"],
    ["BR", "br"],
    ["identity", undefined],
    ["zstd", undefined],
    ["gzip, br", undefined],
    [["gzip", "br"], undefined],
    ["", undefined],
    [undefined, undefined],
  ])("F-3: %j is %s", (value, coding) => {
    expect(contentCodingOf({ "content-encoding": value })).toBe(coding);
  });
});

describe("ContentDecoder", () => {
  it.each(CODED)("F-10: %s, whatever the pieces, is the text", async (_, coding, bytes) => {
    for (const size of [1, 2, 7, 64, 1_460, bytes.length]) {
      const decoding = new Decoding(coding);
      await decoding.pushAll(piecesOf(bytes, size));
      decoding.decoder.end();
      expect(await decoding.ended).toBe("end");
      expect(decoding.text).toBe(TEXT);
    }
  });

  it.each(CODED)(
    "F-1: %s that is cut tells all that can be known of it, then that it was cut",
    async (_, coding, bytes) => {
      const decoding = new Decoding(coding);
      await decoding.pushAll(piecesOf(bytes.subarray(0, bytes.length - 12), 100));
      decoding.cut();
      expect(await decoding.ended).toBe("cut");
      expect(TEXT.startsWith(decoding.text)).toBe(true);
      expect(decoding.text.length).toBeGreaterThan(TEXT.length / 2);
      decoding.decoder.push(bytes);
      decoding.decoder.end();
      await new Promise((resolve) => setImmediate(resolve));
      expect(decoding.told).toBe(1);
    },
  );

  it.each([
    ["nothing", "gzip", Buffer.alloc(0), "end"],
    ["a part", "gzip", gzipSync(TEXT).subarray(0, 50), "failure Z_BUF_ERROR"],
    ["a part", "br", brotliCompressSync(TEXT).subarray(0, 50), "failure Z_BUF_ERROR"],
    ["something else", "gzip", Buffer.from("not compressed"), "failure Z_DATA_ERROR"],
    ["something else", "deflate", Buffer.from("hello"), "failure Z_DATA_ERROR"],
  ] as const)("F-1: %s for the whole, in %s, is an end of its own", async (_, coding, bytes, how) => {
    const decoding = new Decoding(coding);
    decoding.decoder.push(bytes);
    decoding.decoder.end();
    expect(await decoding.ended).toBe(how);
  });

  it("F-8: after destroy nothing is told, however much was to come", async () => {
    const decoding = new Decoding("gzip");
    decoding.decoder.push(gzipSync(Buffer.alloc(50_000_000)));
    decoding.decoder.end();
    await new Promise<void>((resolve) => (decoding.onText = resolve));
    decoding.decoder.destroy();
    const known = decoding.text.length;
    expect(known).toBeLessThan(1_000_000);
    await settle();
    expect([decoding.text.length, decoding.told]).toEqual([known, 0]);
  });

  it("F-10: says when there is no room", () => {
    const decoding = new Decoding("gzip");
    expect(decoding.decoder.push(gzipSync(TEXT))).toBe(true);
    expect(decoding.decoder.push(Buffer.alloc(1_000_000))).toBe(false);
    decoding.decoder.destroy();
  });
});
