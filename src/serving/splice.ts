import { type RawMember, type RawObject, scanObject } from "../protocol/index.js";

/** JSON text that replaces or adds a member; `undefined` removes it. */
export type MemberChanges = Readonly<Record<string, string | undefined>>;

/**
 * A copy of the JSON object in `object` with some of its outermost members changed. Every other byte stays, so that
 * large numbers, the order of members and members that nobody here knows survive.
 *
 * A member that is there keeps its place and gets the new value; one that is not goes in front, in the order of
 * `changes`. Where a name occurs twice, the last occurrence counts, as for `JSON.parse`, and the others go. The
 * bytes must be one valid JSON object and the values valid JSON; neither is checked. Anything but an object comes
 * back as it is.
 */
export function changeMembers(object: Uint8Array, changes: MemberChanges): Uint8Array {
  const scanned = scanObject(object);
  if (scanned === undefined) return object;
  const kept = scanned.members.filter((member) => stays(scanned.members, member, changes));
  const edits = [addition(scanned, kept, changes), ...replacements(kept, changes), ...removals(scanned, kept)];
  return applyEdits(object, edits);
}

/**
 * Adds the members of `defaults` (name to JSON text) that the object does not have. The bytes come back as they are
 * when it has them all. Same conditions as for {@link changeMembers}.
 */
export function addMissingMembers(object: Uint8Array, defaults: Readonly<Record<string, string>>): Uint8Array {
  const names = new Set(scanObject(object)?.members.map((member) => member.name));
  const missing = Object.entries(defaults).filter(([name]) => !names.has(name));
  return missing.length === 0 ? object : changeMembers(object, Object.fromEntries(missing));
}

/** Bytes to replace. Edits do not overlap. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function changeOf(changes: MemberChanges, name: string): string | undefined {
  return Object.hasOwn(changes, name) ? changes[name] : undefined;
}

function stays(members: readonly RawMember[], member: RawMember, changes: MemberChanges): boolean {
  if (!Object.hasOwn(changes, member.name)) return true;
  if (changes[member.name] === undefined) return false;
  return members.findLast((other) => other.name === member.name) === member;
}

function addition(scanned: RawObject, kept: readonly RawMember[], changes: MemberChanges): Edit {
  const present = new Set(kept.map((member) => member.name));
  const added: string[] = [];
  for (const [name, value] of Object.entries(changes)) {
    if (value !== undefined && !present.has(name)) added.push(`${JSON.stringify(name)}:${value}`);
  }
  const at = scanned.start + 1;
  return { start: at, end: at, text: added.join(",") + (added.length > 0 && kept.length > 0 ? "," : "") };
}

function replacements(kept: readonly RawMember[], changes: MemberChanges): Edit[] {
  const edits: Edit[] = [];
  for (const { name, value } of kept) {
    const text = changeOf(changes, name);
    if (text !== undefined) edits.push({ start: value.start, end: value.end, text });
  }
  return edits;
}

/** A removed member takes the comma behind it along; the ones behind the last that is kept take the comma before. */
function removals(scanned: RawObject, kept: readonly RawMember[]): Edit[] {
  const { members } = scanned;
  const edits: Edit[] = [];
  const lastKept = kept.at(-1);
  const tail = lastKept === undefined ? 0 : members.indexOf(lastKept) + 1;
  const staying = new Set(kept);
  members.slice(0, tail).forEach((member, index) => {
    const next = members[index + 1];
    if (!staying.has(member) && next !== undefined) edits.push({ start: member.start, end: next.start, text: "" });
  });
  const last = members.at(-1);
  if (last !== undefined && tail < members.length) {
    edits.push({ start: lastKept?.value.end ?? scanned.start + 1, end: last.value.end, text: "" });
  }
  return edits;
}

function applyEdits(object: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    pieces.push(object.subarray(at, edit.start), Buffer.from(edit.text, "utf8"));
    at = edit.end;
  }
  pieces.push(object.subarray(at));
  return Buffer.concat(pieces);
}
