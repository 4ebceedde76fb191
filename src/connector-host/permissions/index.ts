export { type AccessGlobs, type AccessTest, compileAccessGlobs } from "./access-globs.js";
export { Permissions, type PermissionSource } from "./permissions.js";
