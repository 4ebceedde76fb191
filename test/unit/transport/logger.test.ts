import { describe, expect, it } from "vitest";
import { carefulLogger, type FieldsFirstLogger, type Logger, pinoLogger } from "../../../src/transport/logger.js";

const LEVELS = ["debug", "info", "warn", "error"] as const;

describe("F-19: the logger", () => {
  it("F-19: pinoLogger gives the fields first, to the level that was said, as the logger's own method", () => {
    class Recorder implements FieldsFirstLogger {
      readonly told: unknown[] = [];
      debug(...said: unknown[]): void {
        this.told.push(["debug", ...said]);
      }
      info(...said: unknown[]): void {
        this.told.push(["info", ...said]);
      }
      warn(...said: unknown[]): void {
        this.told.push(["warn", ...said]);
      }
      error(...said: unknown[]): void {
        this.told.push(["error", ...said]);
      }
    }
    const recorder = new Recorder();
    const logger = pinoLogger(recorder);
    for (const level of LEVELS) logger[level]("Said.", { level });
    expect(recorder.told).toEqual(LEVELS.map((level) => [level, { level }, "Said."]));
  });

  it("F-19: a careful one swallows what its logger throws, and gives numbers beyond JSON's reach as text", () => {
    const told: unknown[] = [];
    const listen = (...said: unknown[]): void => void told.push(said);
    const fail = (): never => {
      throw new Error("full");
    };
    const logger: Logger = carefulLogger({ debug: listen, info: fail, warn: fail, error: fail });
    for (const level of LEVELS) logger[level]("Said.", { big: 2n ** 64n, small: 0 });
    expect(told).toEqual([["Said.", { big: "18446744073709551616", small: 0 }]]);
  });
});
