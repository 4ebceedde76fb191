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

/** What a person decided about the tools of one connector, by the names that its server has for them. */
export interface ToolRules {
  /** For tools that `permissions` does not name. */
  readonly newTools: ToolPermission;
  readonly permissions: Table<ToolPermission>;
  readonly descriptions: Table<DescriptionOverride>;
}

const RULED_TOOLS = 2_048;
const DESCRIPTION_LENGTH = 16_384;
const PROPERTIES = 256;

const toolPermission = z.enum(["off", "ask", "allow"]);

const description = text(DESCRIPTION_LENGTH);

const override: z.ZodType<DescriptionOverride> = z
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
  descriptions: tableOf(override, { maxEntries: RULED_TOOLS, refuseName: refuseToolName }).prefault({}),
};

/** The same for a server that the host's own configuration declares. Left out, all tools are allowed. */
export const declaredToolRules = { ...toolRules, newTools: toolPermission.default("allow") };

/** The same rules for what may be another server now: what was allowed asks. */
export function askAgain(rules: ToolRules): ToolRules {
  const permissions = tableFrom(Object.entries(rules.permissions).map(([tool, each]) => [tool, lowered(each)]));
  return { newTools: lowered(rules.newTools), permissions, descriptions: rules.descriptions };
}

function lowered(permission: ToolPermission): ToolPermission {
  return permission === "allow" ? "ask" : permission;
}
