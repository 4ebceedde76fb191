import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../../src/errors.js";
import { StreamResumption } from "../../../../src/legacy-client/http/stream-resumption.js";
import { NOTHING_SENT, streamEnded } from "../../../../src/transport/index.js";

const CONFIG = { maxFruitlessResumes: 2, longestRetryMs: 10_000, random: () => 0 };
const ENDED = { error: streamEnded(NOTHING_SENT), evidence: NOTHING_SENT };
const REFUSED = new RemoteConnectorError("cancelled", { message: "No.", details: { reason: "test" } });

function at(id: string | undefined): StreamResumption {
  const stream = new StreamResumption(CONFIG);
  stream.place.moveTo({ event: "message", data: "", id, unterminated: false });
  return stream;
}

describe("StreamResumption", () => {
  it("L-5: fails as it ended, without a place to go on from, or where nothing may be resumed", () => {
    expect(at(undefined).after(ENDED, true)).toEqual({ kind: "fail", error: ENDED.error });
    expect(at("1").after(ENDED, false)).toEqual({ kind: "fail", error: ENDED.error });
  });

  it("L-5: is taken up at its place until attempts bring nothing, and keeps the first end with the last cause", () => {
    const stream = at("1");
    expect(stream.hasEnded).toBe(false);
    expect(stream.after(ENDED, true)).toEqual({ kind: "resume", lastEventId: "1", delayMs: 1_000 });
    expect(stream.hasEnded).toBe(true);
    for (const kind of ["resume", "fail"]) {
      stream.place.beginAttempt();
      const step = stream.after({ ...ENDED, error: REFUSED }, true);
      expect(step.kind).toBe(kind);
      if (step.kind === "fail") expect(step.error).toMatchObject({ code: "stream_ended", cause: REFUSED });
    }
    expect(stream.givenUp(REFUSED, NOTHING_SENT)).toMatchObject({ code: "stream_ended", delivery: "unknown" });
  });
});
