import type { ConnectorHostOptions } from "remote-connector/connector-host";

/** A wall on which time passes `speed` times as fast since `origin`, in all processes alike: pauses of minutes take seconds. */
export function fastClock(origin: number, speed: number): NonNullable<ConnectorHostOptions["wallClock"]> {
  return {
    now: () => Math.floor(origin + (Date.now() - origin) * speed),
    schedule(delayMs, run) {
      const timer = setTimeout(run, delayMs / speed);
      return () => clearTimeout(timer);
    },
  };
}
