/** A tool by the names of its connector and of its server. */
export interface ToolIdentity {
  readonly connectorKey: string;
  readonly nativeName: string;
}

/** Why tools have no exposed name. Claimants are sorted, so that the order of arrival never shows. */
export type NameDiagnostic =
  /** Connectors whose namespaces are the same. None of their tools is named. */
  | { readonly kind: "namespace_collision"; readonly namespace: string; readonly connectorKeys: readonly string[] }
  /** Tools whose names are the same. None of them is named. */
  | { readonly kind: "name_collision"; readonly exposedName: string; readonly claimants: readonly ToolIdentity[] }
  /** A tool whose native name is empty or ill-formed. */
  | { readonly kind: "unnamable_tool"; readonly tool: ToolIdentity };
