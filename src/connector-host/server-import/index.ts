export {
  ImportedSecret,
  type ImportedServer,
  type ImportNote,
  type ImportNoteKind,
  type ImportRefusal,
  type ImportResult,
  type MissingSecret,
} from "./import-result.js";
export { type ImportOptions, importServers } from "./import-servers.js";
export { slugOfName } from "./server-slug.js";
