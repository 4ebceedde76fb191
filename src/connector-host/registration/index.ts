export { type AgentProfileTables, classifyProfiles } from "./agent-profiles.js";
export { CAPABILITIES, type Capability } from "./capabilities.js";
export { assertRuleChange, boundedRules, changeRules, type RuleChange } from "./change-rules.js";
export {
  type ConfiguredValue,
  type EnvironmentRef,
  isVariableName,
  partsOf,
  type SecretRef,
  type ValuePart,
} from "./configured-value.js";
export {
  type ConnectionSettings,
  type OAuthSettings,
  type ProtocolPreference,
  refuseHeaderText,
  settingsDigest,
} from "./connection-settings.js";
export { namesCredential } from "./credential-name.js";
export { joinKeySpace, type KeyedConnector, type KeySpaceSources, type ReleaseCapability } from "./key-space.js";
export {
  changePermissions,
  createRegistration,
  declareRegistration,
  describeTool,
  parseRegistration,
  parseRegistrationRequest,
  type Registration,
  type RegistrationRequest,
  replaceSettings,
  type SettingsReplacement,
} from "./parse-registration.js";
export {
  type LoadedRegistrations,
  loadRegistrations,
  readRegistration,
  registrationFileName,
  type StorageIssue,
  type StoredFile,
  writeRegistration,
} from "./registration-file.js";
export { type RegistrationPolicy, resolveRegistrationPolicy } from "./registration-policy.js";
export { declareStdioConnector, type ManagedStdioConnector, parseStdioConnector } from "./stdio-connector.js";
export { type Table, tableFrom } from "./table-schema.js";
export {
  askAgain,
  type DescriptionOverride,
  type PermissionRules,
  type RuleOverride,
  ruleOverride,
  toolPermission,
  type ToolPermission,
  type ToolRules,
} from "./tool-rules.js";
