import { createHash } from "node:crypto";
import type { ToolContract, ToolList } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import { checkToolList, type ToolListDiagnostic } from "../activation/index.js";
import type { ListDiagnostic } from "./ports.js";

/** A tool as its server lists it. */
export interface NativeTool {
  readonly nativeName: string;
  readonly contract: ToolContract;
  /** The definition's JSON as its server wrote it. */
  readonly definition: Uint8Array;
}

/** What of a server's list may be shown. */
export interface NativeTools {
  /** In the server's order. */
  readonly native: readonly NativeTool[];
  readonly leftOut: readonly ListDiagnostic[];
}

const MAX_TOOLS = 512;

/** Takes from a list, walked with its definitions, what may be shown of a connector: 512 tools at most, each checked. Pure. */
export function nativeToolsIn(connectorKey: string, listed: ToolList, checkSchema?: SchemaCheck): NativeTools {
  const { tools, diagnostics } = checkToolList(listed, MAX_TOOLS, checkSchema);
  const native: NativeTool[] = [];
  for (const [nativeName, { contract }] of tools) {
    const definition = listed.definitions.get(nativeName);
    if (definition !== undefined) native.push({ nativeName, contract, definition });
  }
  return { native, leftOut: diagnostics.flatMap((diagnostic) => listFault(connectorKey, diagnostic)) };
}

/** Of definitions as their server wrote them: the same for the same ones, in whatever order; `""` for none. Pure. */
export function definitionsDigest(definitions: readonly Uint8Array[]): string {
  if (definitions.length === 0) return "";
  const hash = createHash("sha256");
  // JSON holds no NUL, so that nothing can be moved from one definition to the next.
  for (const definition of [...definitions].sort((a, b) => Buffer.compare(a, b))) hash.update(definition).update("\0");
  return hash.digest("base64url");
}

/** What of a list was left out. What was only tolerated is for the activation to tell. */
function listFault(connectorKey: string, diagnostic: ToolListDiagnostic): ListDiagnostic[] {
  if (diagnostic.kind === "tolerated") return [];
  if (diagnostic.kind === "too_many_tools") return [{ ...diagnostic, connectorKey }];
  const tool = { connectorKey, nativeName: diagnostic.tool };
  if (diagnostic.kind === "duplicate_tool") return [{ kind: "repeated_tool", tool }];
  return [diagnostic.kind === "unusable_name" ? { kind: "unnamable_tool", tool } : { ...diagnostic, tool }];
}
