import { type RawMember, scanObject } from "../../../protocol/index.js";

/**
 * Whether a message has no member twice where it says what it is: outermost, in `params`, and in `params._meta`. Of two
 * members with one name a reader may take either, so that what was checked here need not be what is done there.
 *
 * The bytes must be a valid JSON object in UTF-8. Pure.
 */
export function hasOneMeaning(message: Uint8Array): boolean {
  const outer = scanObject(message)?.members ?? [];
  const params = membersOf(message, outer, "params");
  return [outer, params, membersOf(message, params, "_meta")].every(hasEachOnce);
}

function membersOf(message: Uint8Array, members: readonly RawMember[], name: string): readonly RawMember[] {
  const member = members.find((each) => each.name === name);
  return member === undefined ? [] : (scanObject(message, member.value.start)?.members ?? []);
}

function hasEachOnce(members: readonly RawMember[]): boolean {
  return new Set(members.map(({ name }) => name)).size === members.length;
}
