/** A release as a catalogue would publish it, as plain data. */
export function publishedRelease(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    connectorId: "tencent-docs",
    version: "1.0.0",
    runtime: publishedRuntime(),
    authorization: { kind: "api_key", profile: "tencent-docs.personal-token" },
    requiredCapabilities: ["tools"],
    minimumHostVersion: "0.0.0",
    display: { name: "Tencent Docs" },
    ...changes,
  };
}

/** Its member `runtime`. */
export function publishedRuntime(): Record<string, unknown> {
  return {
    kind: "remote_mcp",
    protocolVersion: "2026-07-28",
    bindingRef: "tencent-docs.primary",
    contractVersion: 1,
    bindingContractHash: `sha256:${"ab".repeat(32)}`,
  };
}
