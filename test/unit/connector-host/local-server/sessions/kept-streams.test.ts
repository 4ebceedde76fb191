import { describe, expect, it } from "vitest";
import { KeptStreams } from "../../../../../src/connector-host/local-server/sessions/kept-streams.js";

function stream(keptBytes: number): { readonly keptBytes: number; gone: boolean; forget(): void } {
  return {
    keptBytes,
    gone: false,
    forget() {
      this.gone = true;
    },
  };
}

describe("H-16: streams that have ended", () => {
  it("are kept within their bytes, the newest first", () => {
    const kept = new KeptStreams({ maxBytes: 10, keepMs: 100 });
    const [a, b, c, big] = [stream(4), stream(4), stream(4), stream(11)];
    for (const each of [a, b, c]) kept.add(each, 0);
    expect([a.gone, b.gone, c.gone, kept.bytes, kept.size]).toEqual([true, false, false, 8, 2]);
    kept.add(big, 1);
    expect([b.gone, c.gone, big.gone, kept.bytes, kept.size]).toEqual([true, true, true, 0, 0]);
  });

  it("are kept for their time, and not longer", () => {
    const kept = new KeptStreams({ maxBytes: 10, keepMs: 100 });
    const [early, late, dropped] = [stream(1), stream(1), stream(1)];
    kept.add(early, 0);
    kept.add(dropped, 10);
    kept.add(late, 50);
    kept.forget(dropped);
    kept.forget(dropped);
    kept.sweep(99);
    expect([early.gone, late.gone, dropped.gone, kept.bytes]).toEqual([false, false, true, 2]);
    kept.sweep(100);
    expect([early.gone, late.gone, kept.size]).toEqual([true, false, 1]);
    kept.sweep(150);
    expect([late.gone, kept.size, kept.bytes]).toEqual([true, 0, 0]);
  });
});
