import type { ErrorCode, RemoteConnectorError } from "../../errors.js";

/** What calls fail with when there is no process, or none that could ever answer. */
const ENDS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["connection_broken", "process_exited", "spawn_failed"]);

/** Whether a call's failure says that the process is gone. Pure. */
export function isEndOfProcess({ code }: RemoteConnectorError): boolean {
  return ENDS.has(code);
}

/** Whether there is no use in another start. Pure. */
export function isLastingEnd({ code }: RemoteConnectorError): boolean {
  return code === "invalid_options";
}
