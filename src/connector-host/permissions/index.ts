export { type AccessGlobs, type AccessTest, compileAccessGlobs } from "./access-globs.js";
export { areListedAlike, areSameRules, isNarrower, permissionIn } from "./permission-in.js";
export { Permissions, type PermissionSource } from "./permissions.js";
