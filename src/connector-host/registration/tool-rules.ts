import { z } from "zod";
import { type Table, tableFrom, tableOf } from "./table-schema.js";
import { refuseToolName, text } from "./text-schemas.js";

/** What may be done with a tool: nothing, each call once a person agreed, everything. */
export type ToolPermission = "off" | "ask" | "allow";

/** What is said of a tool in place of what its server says: of itself, and of properties of its arguments. */
export interface DescriptionOverride {
  readonly description?: string | undefined;
  readonly properties?: Table<string> | undefined;
}

/** What may be done with the tools of one connector, by the names that its server has for them. */
export interface PermissionRules<Unset = never> {
  /** For tools that `permissions` does not name. */
  readonly newTools: ToolPermission | Unset;
  readonly permissions: Table<ToolPermission>;
}

/** What a person decided about the tools of one connector. */
export interface ToolRules extends PermissionRules {
  readonly descriptions: Table<DescriptionOverride>;
}

/** Tools of one connector that can have a permission of their own. */
export const RULED_TOOLS = 2_048;
const DESCRIPTION_LENGTH = 16_384;
const PROPERTIES = 256;
const CONNECTORS = 1_024;

export const toolPermission = z.enum(["off", "ask", "allow"]);

const description = text(DESCRIPTION_LENGTH);

export const descriptionOverride: z.ZodType<DescriptionOverride> = z
  .strictObject({
    description: description.optional(),
    properties: tableOf(description, { maxEntries: PROPERTIES })
      .refine((properties) => Object.keys(properties).length > 0, "must not be empty")
      .optional(),
  })
  .refine((value) => value.description !== undefined || value.properties !== undefined, "must say something")
  .readonly();

/** The members of {@link ToolRules} in a schema. Left out, all tools are off. */
export const toolRules = {
  newTools: toolPermission.default("off"),
  permissions: tableOf(toolPermission, { maxEntries: RULED_TOOLS, refuseName: refuseToolName }).prefault({}),
  descriptions: tableOf(descriptionOverride, { maxEntries: RULED_TOOLS, refuseName: refuseToolName }).prefault({}),
};

/** Descriptions of the tools of many connectors, by connector key. */
export const descriptionTables = tableOf(toolRules.descriptions, { maxEntries: CONNECTORS });

/** The same for a server that the host's own configuration declares. Left out, all tools are allowed. */
export const declaredToolRules = { ...toolRules, newTools: toolPermission.default("allow") };

/** What a person decided otherwise than the definition of a connector says; `newTools` when they decided about those. */
export type RuleOverride = PermissionRules<undefined>;

/** The members of a {@link RuleOverride} in a schema. */
export const ruleOverride = { newTools: toolPermission.optional(), permissions: toolRules.permissions };

/** The same rules for what may be another server now: what was allowed asks. */
export function askAgain<Unset>({ newTools, permissions }: PermissionRules<Unset>): PermissionRules<Unset> {
  const asking = Object.entries(permissions).map(([tool, each]) => [tool, lowered(each)] as const);
  return { newTools: lowered(newTools), permissions: tableFrom(asking) };
}

function lowered<T>(permission: ToolPermission | T): ToolPermission | T {
  return permission === "allow" ? "ask" : permission;
}
