import { describe, expect, it } from "vitest";
import { answerEvents, answerFeed, answerRaw, type Answer, withFaults } from "../../../src/testing/answer.js";
import { EventFeed } from "../../../src/testing/event-feed.js";
import { dataEvent } from "../../../src/testing/event.js";
import { delay, floodBody, holdUntil } from "../../../src/testing/fault.js";
import { Gate } from "../../../src/testing/gate.js";
import { planAnswer } from "../../../src/testing/plan-answer.js";
import { playPlan } from "../../../src/testing/play-plan.js";
import { FakeClock, settle } from "../../support/fake-clock.js";
import { rpc } from "./requests.js";

function play(answer: Answer) {
  const clock = new FakeClock();
  const stage = { text: "", endings: [] as string[], takes: true, drain: (): void => undefined };
  const request = rpc("tools/call");
  const stop = playPlan({
    plan: planAnswer(answer, request),
    request,
    clock,
    outlet: {
      write: (bytes) => {
        stage.text += Buffer.from(bytes).toString();
        return stage.takes;
      },
      onDrain: (run) => {
        stage.drain = run;
      },
    },
    onEnd: (ending) => stage.endings.push(ending),
  });
  return { clock, stage, stop };
}

describe("playing an answer", () => {
  it("waits for pauses and promises", async () => {
    const gate = new Gate();
    const { clock, stage } = play(withFaults(answerRaw("abc"), delay(5, 1), holdUntil(gate.opened, 2)));
    expect(stage.text).toBe("a");
    clock.step(4);
    expect(stage.text).toBe("a");
    clock.step(1);
    expect(stage.text).toBe("ab");
    gate.open();
    await settle();
    expect(stage).toMatchObject({ text: "abc", endings: ["next"] });
  });

  it("goes on when what it waits for fails", async () => {
    const { stage } = play(withFaults(answerRaw("a"), holdUntil(Promise.reject(new Error("no")))));
    await settle();
    expect(stage).toMatchObject({ text: "a", endings: ["next"] });
  });

  it("floods as far as its limit, no faster than the reader reads", () => {
    const { clock, stage } = play(withFaults(answerRaw("."), floodBody({ piece: "ab", maxBytes: 6, everyMs: 3 })));
    expect(stage.text).toBe(".ab");
    stage.takes = false;
    clock.step(3);
    expect(stage.text).toBe(".abab");
    clock.step(100);
    expect(stage.text).toBe(".abab");
    stage.drain();
    expect(stage.text).toBe(".ababab");
    stage.drain();
    expect(stage).toMatchObject({ text: ".ababab", endings: ["stall"] });
  });

  it("leaves nothing behind when it is ended", async () => {
    const gate = new Gate();
    const feed = new EventFeed();
    const plays = [
      play(withFaults(answerRaw("ab"), delay(5, 1))),
      play(withFaults(answerRaw("ab"), holdUntil(gate.opened, 1))),
      play(withFaults(answerEvents([]), floodBody({ piece: "x", everyMs: 1 }))),
      play(answerFeed(feed)),
    ];
    const texts = plays.map(({ stage }) => stage.text);
    for (const { stop } of plays) stop();
    gate.open();
    feed.send(dataEvent("late"));
    await settle();
    for (const [i, { clock, stage }] of plays.entries()) {
      expect(clock.pending).toBe(0);
      expect(stage).toMatchObject({ text: texts[i], endings: [] });
    }
    expect(feed.listeners).toBe(0);
  });
});

describe("a live stream", () => {
  it("plays what was sent before and what comes, and ends whole", () => {
    const feed = new EventFeed();
    feed.send(dataEvent("1"));
    const { stage } = play(answerFeed(feed));
    expect(stage.text).toMatch(/9\r\ndata: 1\n\n\r\n$/);
    feed.send(dataEvent("2"));
    expect(stage.text).toMatch(/9\r\ndata: 2\n\n\r\n$/);
    expect(stage.endings).toEqual([]);
    feed.end();
    feed.send(dataEvent("3"));
    expect(stage.text).toMatch(/data: 2\n\n\r\n0\r\n\r\n$/);
    expect(stage.endings).toEqual(["next"]);
  });

  it.each([
    ["cut", "fin"],
    ["reset", "reset"],
  ] as const)("can be %s", (how, ending) => {
    const feed = new EventFeed();
    const { stage } = play(answerFeed(feed));
    feed.end(how);
    expect(stage.text).not.toMatch(/0\r\n\r\n$/);
    expect(stage.endings).toEqual([ending]);
    expect(play(answerFeed(feed)).stage.endings).toEqual([ending]);
  });
});
