export { type MetadataPlace, type ProtectedServerOptions, type Protection, type TokenSource } from "./options.js";
export { type AccessRecord, ProtectedServer } from "./protected-server.js";
