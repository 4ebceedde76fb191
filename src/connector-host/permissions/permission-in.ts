import type { PermissionRules, ToolPermission } from "../registration/index.js";

/** The permission of a tool by these rules, by the name that its server has for it. Pure. */
export function permissionIn({ newTools, permissions }: PermissionRules, nativeName: string): ToolPermission {
  return Object.hasOwn(permissions, nativeName) ? (permissions[nativeName] ?? newTools) : newTools;
}

/** Whether `next` permits less than `present`. Pure. */
export function isNarrower(next: ToolPermission, present: ToolPermission): boolean {
  return WIDTHS[next] < WIDTHS[present];
}

/** Whether two rules say the same of every tool that either names, and of all others. Pure. */
export function areSameRules(one: PermissionRules, other: PermissionRules): boolean {
  return haveSame(one, other, (permission) => permission);
}

/** Whether a list by one of these rules has exactly the tools that it has by the other. Pure. */
export function areListedAlike(one: PermissionRules, other: PermissionRules): boolean {
  return haveSame(one, other, (permission) => permission === "off");
}

const WIDTHS: Readonly<Record<ToolPermission, number>> = { off: 0, ask: 1, allow: 2 };

function haveSame(one: PermissionRules, other: PermissionRules, of: (permission: ToolPermission) => unknown): boolean {
  if (of(one.newTools) !== of(other.newTools)) return false;
  const named = [one, other].flatMap(({ permissions }) => Object.keys(permissions));
  return named.every((name) => of(permissionIn(one, name)) === of(permissionIn(other, name)));
}
