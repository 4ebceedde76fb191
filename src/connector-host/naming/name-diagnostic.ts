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
  /** A tool whose name would lead a call to another connector, or to none. The name belongs to its `owner` alone. */
  | {
      readonly kind: "shadowed_tool";
      readonly exposedName: string;
      readonly tool: ToolIdentity;
      readonly owner: string | undefined;
    }
  /** A tool that was given more than once. None of them is named. */
  | { readonly kind: "repeated_tool"; readonly tool: ToolIdentity }
  /** A tool whose native name is empty or ill-formed, or for which the policy has no room. */
  | { readonly kind: "unnamable_tool"; readonly tool: ToolIdentity };

export function identityOf({ connectorKey, nativeName }: ToolIdentity): ToolIdentity {
  return { connectorKey, nativeName };
}

/** Sorts by text, in code units. */
export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Sorts diagnostics in an order that says nothing. */
export function compareDiagnostics(a: NameDiagnostic, b: NameDiagnostic): number {
  return compareText(JSON.stringify(a), JSON.stringify(b));
}
