import { createHash } from "node:crypto";
import { isJsonObject, parseJson } from "../../protocol/index.js";
import type { CallableTool } from "./route-listings.js";

/** What of a tool's contract an approval is about. */
export interface ApprovalSubject {
  /** What its server calls it; `undefined` for nothing. */
  readonly toolTitle: string | undefined;
  /**
   * Of how it is called and, where its definition is known, of all that says but the name, under which agents know it: that is another where
   * names are. Known or not known are different.
   */
  readonly contractDigest: string;
}

/** Pure. */
export function approvalSubject({ contract, definition }: Omit<CallableTool, "nativeName">): ApprovalSubject {
  const text = definition === undefined || typeof definition === "string" ? definition : decoder.decode(definition);
  const parsed = text === undefined ? undefined : parseJson(text);
  const { name: _, ...rest } = isJsonObject(parsed) ? parsed : {};
  const known = isJsonObject(parsed) ? rest : null;
  const contractDigest = createHash("sha256")
    .update(JSON.stringify([contract, known]), "utf8")
    .digest("base64url");
  return { toolTitle: titleIn(rest), contractDigest };
}

const decoder = new TextDecoder();

/** Source: 2026-07-28, Tools, Tool: `title` comes before that of the annotations. */
function titleIn({ title, annotations }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof title === "string") return title;
  const annotated = isJsonObject(annotations) ? annotations["title"] : undefined;
  return typeof annotated === "string" ? annotated : undefined;
}
