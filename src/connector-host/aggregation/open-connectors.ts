import type { Reach } from "./ports.js";

/** What a connector may have beyond tools, for which it has to be opened. */
export type OptInCapability = "prompts" | "resources";

/** A prompt by its native name, or a resource or template by its URI. */
export interface OwnedEntry {
  readonly capability: OptInCapability;
  readonly connectorKey: string;
  readonly name: string;
}

/** Whether a connector is opened for something. Nothing beyond tools is, unless its release or registration says so. */
export function isOpenFor(reach: Reach, connectorKey: string, capability: OptInCapability): boolean {
  return reach.describe?.(connectorKey)?.capabilities.includes(capability) ?? false;
}

/** Whether an entry may be listed, and used. Whatever is shown, read, filled in or completed is asked about here. */
export function isAdmitted(reach: Reach, { capability, connectorKey, name }: OwnedEntry): boolean {
  return isOpenFor(reach, connectorKey, capability) && (reach.admitsEntry?.(connectorKey, name) ?? true);
}
