import { refuseArgument } from "../../protocol/index.js";
import { type Table, tableFrom } from "./table-schema.js";
import { refuseToolName } from "./text-schemas.js";
import { type DescriptionOverride, descriptionOverride, RULED_TOOLS } from "./tool-rules.js";

/**
 * The descriptions with another one for a tool; `override`, which is untrusted, `undefined`: it has none. Throws `invalid_argument` for what is
 * none, for a name that no tool can have, and when 2,048 other tools have one.
 */
export function changeDescriptions(
  descriptions: Table<DescriptionOverride>,
  nativeName: string,
  override: unknown,
): Table<DescriptionOverride> {
  const reason = typeof nativeName === "string" ? refuseToolName(nativeName) : "must be a name";
  if (reason !== undefined) refuseArgument("nativeName", reason);
  const others = Object.entries(descriptions).filter(([name]) => name !== nativeName);
  if (override === undefined) return tableFrom(others);
  const parsed = descriptionOverride.safeParse(override);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuseArgument("override", `must be descriptions: ${issue?.message ?? ""}`);
  }
  if (others.length < RULED_TOOLS) return tableFrom([...others, [nativeName, parsed.data]]);
  return refuseArgument("nativeName", `${String(RULED_TOOLS)} tools have descriptions of their own already`);
}
