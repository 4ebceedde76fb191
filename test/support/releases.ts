/** A release as a marketplace would publish it, with some of its members changed. */
export function releaseOf(connectorId: string, changes: object = {}): object {
  return {
    connectorId,
    version: "1.0.0",
    runtime: {
      kind: "remote_mcp",
      protocolVersion: "2026-07-28",
      bindingRef: "binding.primary",
      contractVersion: 1,
      bindingContractHash: `sha256:${"0".repeat(64)}`,
    },
    authorization: { kind: "oauth2", profile: "personal" },
    requiredCapabilities: ["tools"],
    minimumHostVersion: "0.1.0",
    display: { name: connectorId },
    ...changes,
  };
}
