import { randomBytes } from "node:crypto";

/** So many bytes that nobody can guess. */
export type RandomBytes = (size: number) => Uint8Array;

/** Those of the system. */
export const systemRandomBytes: RandomBytes = (size) => randomBytes(size);

/** A name that nobody else uses. */
export function randomName(random: RandomBytes): string {
  return Buffer.from(random(12)).toString("hex");
}
