import { type ByteRange, type RawMember, scanObject } from "../../protocol/index.js";
import { changeMembers } from "../../serving/index.js";

/** What is said of a tool in place of what its server says: of itself, and of properties of its arguments. */
export interface DescriptionOverride {
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

/** Other descriptions of a connector's tools, by the names that its server has for them. Never changed: a change is another one. */
export type DescriptionTable = Readonly<Record<string, DescriptionOverride>>;

/** A definition with other descriptions, or why they don't fit it. */
export type OverrideVerdict =
  | { readonly kind: "fits"; readonly definition: string }
  | { readonly kind: "misfit"; readonly reason: string };

/**
 * Puts other descriptions into a tool's definition: its own, and those of properties that its `inputSchema` has at the top. Every
 * other byte stays. A description that is not there yet is put in front. The definition must be valid JSON. Pure.
 */
export function overrideDescriptions(definition: string, override: DescriptionOverride): OverrideVerdict {
  const { description, properties } = override;
  const bytes = Buffer.from(definition, "utf8");
  const changes: Record<string, string> = {};
  if (description !== undefined) changes["description"] = JSON.stringify(description);
  if (properties !== undefined) {
    const schema = describeProperties(memberOf(bytes, "inputSchema"), properties);
    if (schema.kind === "misfit") return schema;
    changes["inputSchema"] = schema.definition;
  }
  return { kind: "fits", definition: textOf(changeMembers(bytes, changes)) };
}

function describeProperties(
  schema: Uint8Array | undefined,
  descriptions: Readonly<Record<string, string>>,
): OverrideVerdict {
  const properties = schema && memberOf(schema, "properties");
  if (schema === undefined || properties === undefined) return misfit("inputSchema has no object as properties");
  const changed: [string, string][] = [];
  for (const [name, description] of Object.entries(descriptions)) {
    const property = memberOf(properties, name);
    if (property === undefined) return misfit(`inputSchema has no object as property ${JSON.stringify(name)}`);
    changed.push([name, textOf(changeMembers(property, { description: JSON.stringify(description) }))]);
  }
  // By entries: a property can be called `__proto__`.
  const spliced = changeMembers(properties, Object.fromEntries(changed));
  return { kind: "fits", definition: textOf(changeMembers(schema, { properties: textOf(spliced) })) };
}

/** The bytes of an object's member that is an object itself. Of several the last one counts, as for `JSON.parse`. */
function memberOf(object: Uint8Array, name: string): Uint8Array | undefined {
  const found = scanObject(object)?.members.findLast((member: RawMember) => member.name === name);
  return found && objectAt(object, found.value);
}

function objectAt(bytes: Uint8Array, { start, end }: ByteRange): Uint8Array | undefined {
  return scanObject(bytes, start) === undefined ? undefined : bytes.subarray(start, end);
}

function misfit(reason: string): OverrideVerdict {
  return { kind: "misfit", reason };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
