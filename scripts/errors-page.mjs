import { parseSync } from "oxc-parser";

/**
 * The page of error codes: each with its meaning and its details, as `src/errors.ts` declares and describes them.
 *
 * @param {string} source
 * @returns {string}
 */
export function errorsPage(source) {
  const { program, comments } = parseSync("errors.ts", source);
  const declarations = new Map();
  for (const { type, declaration, start } of program.body) {
    if (type === "ExportNamedDeclaration" && declaration?.id)
      declarations.set(declaration.id.name, { declaration, start });
  }

  const details = declared("ErrorDetails");
  const codes = details.declaration.body.body.map((code) => {
    const members = membersOf(code.typeAnnotation.typeAnnotation).map(describe);
    return [`### \`${code.key.name}\``, docAbove(code.start), members.join("\n")].join("\n\n");
  });
  const evidence = membersOf(declared("DeliveryEvidence").declaration).map(describe);

  return `${[
    "# Errors",
    "<!-- Generated from src/errors.ts by `npm run docs`. Edit the docstrings there. -->",
    "There is one class, `RemoteConnectorError`.",
    docAbove(declared("RemoteConnectorError").start),
    "Messages are for people and may change in any release: decide by `code`, never by text.",
    "## Delivery",
    docAbove(declared("Delivery").start),
    "The error of a failed request also says what was seen of it, in `details.evidence`:",
    evidence.join("\n"),
    "## Codes",
    docAbove(details.start),
    ...codes,
  ].join("\n\n")}\n`;

  function declared(name) {
    const found = declarations.get(name);
    if (found === undefined) throw new Error(`src/errors.ts exports no ${name}`);
    return found;
  }

  /** The members of an object type, of those it is joined with, and of the interfaces it refers to. */
  function membersOf(node) {
    if (node.type === "TSIntersectionType") return node.types.flatMap(membersOf);
    if (node.type === "TSTypeReference") return membersOf(declared(node.typeName.name).declaration);
    if (node.type === "TSInterfaceDeclaration") return node.body.body;
    if (node.type === "TSTypeLiteral") return node.members;
    throw new Error(`src/errors.ts: details can't be a ${node.type}`);
  }

  function describe(member) {
    const { start, end } = member.typeAnnotation.typeAnnotation;
    const type = source.slice(start, end).replaceAll(/\s+/g, " ");
    const shown = member.optional ? `${type.replace(/ \| undefined$/, "")}\`, may be absent` : `${type}\``;
    const doc = docAbove(member.start);
    return `- \`${member.key.name}\`: \`${shown}${doc === "" ? "" : `. ${doc}`}`;
  }

  /** The text of the docstring that ends right above a position. */
  function docAbove(position) {
    const doc = comments.find(
      ({ end, value }) => value.startsWith("*") && end <= position && source.slice(end, position).trim() === "",
    );
    return (doc?.value.slice(1) ?? "")
      .replaceAll(/^\s*\* ?/gm, "")
      .replaceAll(/\{@link (\w+)\}/g, "`$1`")
      .trim();
  }
}
