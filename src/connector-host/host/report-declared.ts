import type { DeclaredConnectors } from "../catalog/index.js";
import type { StorageIssue } from "../registration/index.js";
import type { HostLogger } from "./host-logger.js";

/** Says what the configuration's own connectors allow, and which registrations could not be read. */
export function reportDeclared(
  { device }: DeclaredConnectors,
  issues: readonly StorageIssue[],
  logger: HostLogger,
): void {
  for (const { key: connectorKey, kind, connector } of device) {
    const { newTools, permissions } = connector.kind === "stdio" ? connector.connector : connector.registration;
    logger.info("The configuration declares a connector.", { connectorKey, kind, newTools, permissions });
  }
  for (const issue of issues) logger.warn("A registration can't be used.", { ...issue });
}
