import { between, doubled, type Random } from "./backoff.js";

/** The least time between the starts of two fetches, whatever asks for them. */
export const SPACING_MS = 1_000;

/** Until the next fetch when nothing asks for one: five minutes, and up to a tenth of it more or less. */
export function pollDelay(random: Random): number {
  return between(270_000, 330_000, random);
}

/** After a snapshot that was held. */
export function holdDelay(random: Random): number {
  return between(20_000, 30_000, random);
}

/** After the `failures`th failure in a row: a second, doubling to a minute, with full jitter. */
export function retryDelay(failures: number, random: Random): number {
  return between(0, doubled(failures, 1_000, 60_000), random);
}
