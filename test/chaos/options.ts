import { parseArgs } from "node:util";
import { type Sabotage, SABOTAGES } from "./orders.js";

/** What the command was asked for. */
export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  readonly round: number | undefined;
  readonly json: string | undefined;
  readonly sabotage: Sabotage | null;
}

/**
 * Reads the command's arguments, and `CHAOS_SABOTAGE` of the environment. `anySeed`: the seed when none is asked for. Throws for what
 * is not understood.
 */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  anySeed: number,
): ChaosOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: "string" },
      seed: { type: "string" },
      round: { type: "string" },
      json: { type: "string" },
    },
  });
  const kills = numberOf("--kills", values.kills) ?? 200;
  if (kills === 0) throw new Error("--kills must be at least 1.");
  return {
    kills,
    seed: numberOf("--seed", values.seed) ?? anySeed,
    round: numberOf("--round", values.round),
    json: values.json,
    sabotage: sabotageOf(environment["CHAOS_SABOTAGE"]),
  };
}

function numberOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  throw new Error(`${name} must be a whole number.`);
}

function sabotageOf(name: string | undefined): Sabotage | null {
  if (name === undefined || name === "") return null;
  const found = SABOTAGES.find((sabotage) => sabotage === name);
  if (found === undefined) throw new Error(`There is no sabotage ${name}: ${SABOTAGES.join(", ")}.`);
  return found;
}
