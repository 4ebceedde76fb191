import type { JsonObject } from "../../protocol/index.js";

/** A member that is text with something in it; everything else counts as absent. Pure. */
export function textMember(document: JsonObject, member: string): string | undefined {
  const value = document[member];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A member that is a list, without what is no text in it; everything else counts as absent. Pure. */
export function textsMember(document: JsonObject, member: string): readonly string[] | undefined {
  const value = document[member];
  if (!Array.isArray(value)) return undefined;
  return value.filter((each): each is string => typeof each === "string");
}

/** A member that is `true` or `false`; everything else counts as absent. Pure. */
export function booleanMember(document: JsonObject, member: string): boolean | undefined {
  const value = document[member];
  return typeof value === "boolean" ? value : undefined;
}
