export { createInjectiveNaming, type InjectiveNamingOptions } from "./injective-naming.js";
export { type ToolIdentity } from "./name-diagnostic.js";
export { buildNameTable, findNativeName } from "./name-table.js";
export { buildNamespaceTable, type NamespaceTable } from "./namespace-table.js";
export { type KnownNamespaces, type NamingPolicy, type SplitName } from "./naming-policy.js";
