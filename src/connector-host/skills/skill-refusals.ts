import { RemoteConnectorError } from "../../errors.js";
import { plainText } from "../../protocol/index.js";

/** Makes the refusal of a connector's skills. `path` is below the root, which is `""` itself. */
export type RefuseSkills = (path: string, reason: string, cause?: unknown) => RemoteConnectorError<"invalid_skills">;

/** What refuses the skills of one connector. The path of its folder on this machine is in no refusal. */
export function skillRefusals(connectorKey: string): RefuseSkills {
  return (path, reason, cause) => {
    const shown = plainText(path, 512);
    return new RemoteConnectorError("invalid_skills", {
      message: `The skills of ${connectorKey} can't be used: ${shown === "" ? "their folder" : shown} ${reason}.`,
      details: { connectorKey, path: shown, reason },
      cause,
    });
  };
}

export const CHANGED = "changed while it was read";

/** Why the file system did not give what is there. Pure. */
export function readFailure(path: string, error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  const isGone = code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
  if (isGone) return path === "" ? "is not there" : CHANGED;
  return `can't be read (${typeof code === "string" ? code : "unknown"})`;
}
