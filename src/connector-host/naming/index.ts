export {
  type AliasableTool,
  type AliasOptions,
  type AliasTable,
  assignAliases,
  keepAdvertised,
} from "./alias-table.js";
export { createInjectiveNaming, type InjectiveNamingOptions } from "./injective-naming.js";
export { type NameDiagnostic, type ToolIdentity } from "./name-diagnostic.js";
export { buildNameTable, findNativeName } from "./name-table.js";
export { buildNamespaceTable, type NamedPlace, type NamespaceTable } from "./namespace-table.js";
export { type KnownNamespaces, type NamingPolicy, type SplitName } from "./naming-policy.js";
export { createRawNaming, type RawNamingOptions } from "./raw-naming.js";
