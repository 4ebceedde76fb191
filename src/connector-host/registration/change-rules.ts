import { refuseArgument } from "../../protocol/index.js";
import { tableFrom } from "./table-schema.js";
import { refuseToolName } from "./text-schemas.js";
import { type PermissionRules, RULED_TOOLS, toolPermission, type ToolPermission } from "./tool-rules.js";

/** One decision about the tools of a connector. */
export type RuleChange =
  /** About one tool, by the name that its server has for it. `undefined`: it has no permission of its own any more. */
  | { readonly kind: "tool"; readonly nativeName: string; readonly permission: ToolPermission | undefined }
  /** About all that have no permission of their own. */
  | { readonly kind: "new_tools"; readonly permission: ToolPermission };

/** Throws `invalid_argument` for what is no permission, and for a name that no tool can have. */
export function assertRuleChange(change: RuleChange): void {
  const isOne = change.kind === "tool" && change.permission === undefined;
  if (!isOne && !toolPermission.safeParse(change.permission).success) {
    refuseArgument("permission", "must be off, ask or allow");
  }
  if (change.kind !== "tool") return;
  const reason = typeof change.nativeName === "string" ? refuseToolName(change.nativeName) : "must be a name";
  if (reason !== undefined) refuseArgument("nativeName", reason);
}

/** The rules with a decision applied. Pure. */
export function changeRules<Unset>(rules: PermissionRules<Unset>, change: RuleChange): PermissionRules<Unset> {
  const { newTools, permissions } = rules;
  if (change.kind === "new_tools") return { newTools: change.permission, permissions };
  const { nativeName, permission } = change;
  const others = Object.entries(permissions).filter(([name]) => name !== nativeName);
  return {
    newTools,
    permissions: tableFrom(permission === undefined ? others : [...others, [nativeName, permission]]),
  };
}

/** Hands rules on that can be kept. Throws `invalid_argument` when more than 2,048 tools have a permission of their own. */
export function boundedRules<Unset>(rules: PermissionRules<Unset>): PermissionRules<Unset> {
  if (Object.keys(rules.permissions).length <= RULED_TOOLS) return rules;
  return refuseArgument("nativeName", `${String(RULED_TOOLS)} tools have a permission of their own already`);
}
