/**
 * What one folder of `src` may reach. Folders are named by their path below `src`; `errors`, `index`, `open-list` and `options` are
 * files. A folder inside another has its own row: the outer one may import it, and it may import the outer one's files.
 */
export interface FolderRule {
  /** Folders that it may import, each through its `index.ts`. */
  readonly imports: readonly string[];
  /** Folders of which it may import types, and nothing that runs. */
  readonly typesOf?: readonly string[];
  /** Folders that its `index.ts` alone may import: it is the place where things are put together. */
  readonly composes?: readonly string[];
  /** Packages that it may import. */
  readonly packages: readonly string[];
  /** Pure folders import no `node:` module and touch no fetch, timer, clock or random source. */
  readonly pure?: true;
  /** Folders that the one around them may load only when they are used: no static import of it reaches them. */
  readonly loadedOnUse?: true;
  /** Folders without a subpath of their own in package.json. */
  readonly internal?: true;
}

const ROOTS = ["errors", "open-list", "options"];
const BASE = [...ROOTS, "protocol", "transport"];
const CLIENTS = ["modern-client", "legacy-client"];

/** Who may import whom. A folder that has no row here may not exist. */
export const TABLE: Readonly<Record<string, FolderRule>> = {
  errors: { imports: [], packages: [], pure: true },
  "open-list": { imports: [], packages: [], pure: true, internal: true },
  options: { imports: ["errors"], packages: [], pure: true, internal: true },
  index: { imports: ["errors", "protocol", ...CLIENTS, "connect", "result-projection"], packages: [] },
  protocol: { imports: ["errors"], packages: ["eventsource-parser"], pure: true },
  "protocol/json-schema": {
    imports: ROOTS,
    packages: ["@cfworker/json-schema", "ajv", "re2js"],
    pure: true,
    loadedOnUse: true,
  },
  "protocol/input": { imports: [...ROOTS, "protocol/json-schema"], packages: [], pure: true, internal: true },
  "result-projection": { imports: [...ROOTS, "protocol"], packages: [], pure: true, internal: true },
  transport: {
    imports: [...ROOTS, "protocol"],
    packages: ["@opentelemetry/api", "ipaddr.js", "tough-cookie", "undici"],
  },
  "transport/process": {
    imports: [...ROOTS, "protocol"],
    packages: ["cross-spawn"],
    loadedOnUse: true,
    internal: true,
  },
  "modern-client": { imports: [...BASE, "protocol/input", "protocol/json-schema", "transport/process"], packages: [] },
  "modern-client/input": { imports: [...BASE, "protocol/input", "protocol/json-schema"], packages: [], internal: true },
  "modern-client/stdio": { imports: [...BASE, "transport/process"], packages: [], internal: true },
  "modern-client/subscriptions": { imports: BASE, packages: [], internal: true },
  "modern-client/tasks": { imports: [...BASE, "modern-client/input"], packages: [], internal: true },
  "legacy-client": { imports: [...BASE, "protocol/input", "protocol/json-schema", "transport/process"], packages: [] },
  "legacy-client/http": { imports: BASE, packages: [], internal: true },
  connect: { imports: [...BASE, "protocol/input", ...CLIENTS, "modern-client/subscriptions"], packages: [] },
  "connect/supervision": { imports: BASE, typesOf: ["modern-client"], packages: [], internal: true },
  oauth: { imports: BASE, packages: ["zod"] },
  "oauth/challenge": { imports: ["errors"], packages: [], pure: true, internal: true },
  "oauth/requests": { imports: BASE, packages: [], internal: true },
  "oauth/discovery": { imports: [...BASE, "oauth/requests"], packages: ["zod"], internal: true },
  "oauth/identity": { imports: BASE, packages: ["zod"], internal: true },
  "oauth/token-endpoint": { imports: BASE, packages: ["jose", "oauth4webapi"], internal: true },
  "oauth/code-flow": { imports: BASE, packages: ["oauth4webapi"], internal: true },
  "oauth/grants": { imports: [...BASE, "oauth/token-endpoint"], packages: [], internal: true },
  "oauth/dpop": { imports: BASE, packages: ["jose"], internal: true },
  "oauth/vault": { imports: BASE, packages: ["@napi-rs/keyring", "zod"], internal: true },
  "oauth/session": {
    imports: [
      ...BASE,
      "oauth/challenge",
      "oauth/requests",
      "oauth/discovery",
      "oauth/identity",
      "oauth/token-endpoint",
      "oauth/code-flow",
      "oauth/grants",
      "oauth/dpop",
      "oauth/vault",
    ],
    packages: ["zod"],
    internal: true,
  },
  "auth-projection": { imports: BASE, packages: ["ws", "zod"] },
  "auth-projection/flows": { imports: BASE, packages: [], internal: true },
  reconcile: { imports: ROOTS, packages: [] },
  store: {
    imports: ROOTS,
    typesOf: ["auth-projection", "connect", "connector-host/documents", "connector-host/journal", "oauth", "reconcile"],
    packages: ["libsql"],
  },
  serving: { imports: [...ROOTS, "protocol"], packages: [], internal: true },
  "connector-host": {
    imports: [
      ...BASE,
      "transport/process",
      ...CLIENTS,
      "connect",
      "oauth",
      "auth-projection",
      "reconcile",
      "result-projection",
      "serving",
    ],
    composes: ["store"],
    packages: ["zod"],
  },
  "connector-host/state-socket": { imports: ["errors", "serving"], packages: [], internal: true },
  "connector-host/admin": {
    imports: [...ROOTS, "connector-host/permissions"],
    typesOf: ["connector-host/registration"],
    packages: ["zod"],
    internal: true,
  },
  "connector-host/admin-web": {
    imports: [...ROOTS, "serving", "transport", "connector-host/admin"],
    packages: [],
    internal: true,
  },
  "connector-host/control": {
    imports: [...ROOTS, "serving", "transport", "connector-host/admin", "connector-host/state-socket"],
    packages: ["zod"],
    internal: true,
  },
  "connector-host/agent-socket": {
    imports: ["serving", "connector-host/state-socket"],
    packages: [],
    internal: true,
  },
  "connector-host/stdio-shim": {
    imports: [...BASE, "transport/process", "connector-host/agent-socket"],
    packages: [],
    internal: true,
  },
  "connector-host/documents": { imports: ROOTS, packages: ["zod"], pure: true, internal: true },
  "connector-host/release": { imports: ["errors", "protocol"], packages: ["semver", "zod"], internal: true },
  "connector-host/registration": {
    imports: [...BASE, "connector-host/release"],
    packages: ["zod"],
    internal: true,
  },
  "connector-host/server-import": {
    imports: [...ROOTS, "protocol", "connector-host/registration", "connector-host/release"],
    packages: [],
    internal: true,
  },
  "connector-host/server-import/config-text": {
    imports: [],
    packages: ["jsonc-parser"],
    loadedOnUse: true,
    internal: true,
  },
  "connector-host/naming": { imports: ROOTS, packages: [], internal: true },
  "connector-host/routes": {
    imports: [...ROOTS, "transport"],
    typesOf: ["protocol", "connector-host/skills"],
    packages: [],
    internal: true,
  },
  "connector-host/factories": {
    imports: [...BASE, "modern-client", "connector-host/release"],
    typesOf: ["connect", "protocol/input"],
    packages: [],
    internal: true,
  },
  "connector-host/relay": {
    imports: ["connector-host/relay/guest", "connector-host/relay/desktop"],
    packages: [],
    internal: true,
  },
  // It runs where no credential may be: what it could load is what it could use.
  "connector-host/relay/guest": {
    imports: [...BASE, "modern-client"],
    typesOf: ["connector-host/factories"],
    packages: [],
    internal: true,
  },
  "connector-host/relay/desktop": {
    imports: [...BASE, "serving", "connector-host/release"],
    typesOf: ["auth-projection", "connector-host/factories", "connector-host/relay/guest"],
    packages: [],
    internal: true,
  },
  "connector-host/permissions": {
    imports: ROOTS,
    typesOf: ["connector-host/registration", "connector-host/routes"],
    packages: ["picomatch"],
    pure: true,
    internal: true,
  },
  "connector-host/local-server": {
    imports: [...BASE, "serving", "connector-host/local-server/sessions"],
    typesOf: ["protocol/input"],
    packages: [],
    internal: true,
  },
  "connector-host/local-server/sessions": {
    imports: [...BASE, "serving"],
    typesOf: ["protocol/input"],
    packages: [],
    internal: true,
  },
  "connector-host/skills": { imports: [...ROOTS, "protocol"], packages: [], internal: true },
  "connector-host/skills/front-matter": {
    imports: [],
    packages: ["yaml"],
    pure: true,
    loadedOnUse: true,
    internal: true,
  },
  "connector-host/activation": {
    imports: [...BASE, "modern-client", "connector-host/factories", "connector-host/release", "connector-host/routes"],
    typesOf: ["protocol/json-schema", "connector-host/skills"],
    packages: [],
    internal: true,
  },
  "connector-host/aggregation": {
    imports: [
      ...BASE,
      "protocol/input",
      "serving",
      "connector-host/activation",
      "connector-host/factories",
      "connector-host/local-server",
      "connector-host/naming",
      "connector-host/rounds",
      "connector-host/routes",
    ],
    typesOf: ["connect", "protocol/json-schema"],
    packages: [],
    internal: true,
  },
  // What is written of each request before it is sent.
  "connector-host/journal": {
    imports: BASE,
    typesOf: ["connector-host/aggregation"],
    packages: [],
    internal: true,
  },
  "connector-host/approvals": {
    imports: [...BASE, "connector-host/rounds"],
    typesOf: ["protocol/input", "connector-host/aggregation", "connector-host/local-server"],
    packages: [],
    internal: true,
  },
  // What is asked in the midst of a call, and what goes on with its answers.
  "connector-host/rounds": {
    imports: [...BASE, "protocol/input"],
    typesOf: ["connector-host/local-server"],
    packages: [],
    internal: true,
  },
  "connector-host/device": {
    imports: [
      ...BASE,
      "connect",
      "reconcile",
      "connector-host/activation",
      "connector-host/device/leases",
      "connector-host/factories",
      "connector-host/registration",
      "connector-host/release",
      "connector-host/routes",
    ],
    typesOf: ["protocol/json-schema", "connector-host/skills"],
    packages: [],
    internal: true,
  },
  // Whom a legacy server may ask, and over which connection.
  "connector-host/device/leases": {
    imports: [...BASE, "protocol/input", "connector-host/release"],
    typesOf: ["connect", "connector-host/factories", "connector-host/registration"],
    packages: [],
    internal: true,
  },
  "connector-host/catalog": {
    imports: [
      ...ROOTS,
      "connector-host/device",
      "connector-host/documents",
      "connector-host/registration",
      "connector-host/release",
    ],
    packages: ["zod"],
    internal: true,
  },
  "connector-host/host": {
    imports: [
      ...BASE,
      "protocol/json-schema",
      "auth-projection",
      "reconcile",
      "connector-host/activation",
      "connector-host/admin",
      "connector-host/admin-web",
      "connector-host/aggregation",
      "connector-host/approvals",
      "connector-host/catalog",
      "connector-host/device",
      "connector-host/documents",
      "connector-host/factories",
      "connector-host/journal",
      "connector-host/local-server",
      "connector-host/naming",
      "connector-host/permissions",
      "connector-host/registration",
      "connector-host/release",
      "connector-host/rounds",
      "connector-host/routes",
      "connector-host/skills",
      "connector-host/status",
    ],
    typesOf: ["oauth"],
    packages: [],
    internal: true,
  },
  "connector-host/status": {
    imports: ROOTS,
    packages: [],
    pure: true,
    internal: true,
  },
  gateway: {
    imports: [...BASE, ...CLIENTS, "connect", "serving", "store", "gateway/authorizing"],
    packages: ["ws", "zod"],
  },
  "gateway/authorizing": { imports: [...BASE, "serving"], packages: ["oauth4webapi", "zod"], internal: true },
  testing: {
    imports: [...ROOTS, "protocol", "serving", "testing/authorization-server", "testing/protected-server"],
    packages: [],
  },
  "testing/authorization-server": { imports: [...ROOTS, "protocol", "serving"], packages: [], internal: true },
  "testing/protected-server": {
    imports: [...ROOTS, "protocol", "serving", "testing/authorization-server"],
    packages: [],
    internal: true,
  },
  cli: {
    imports: [
      ...BASE,
      "transport/process",
      ...CLIENTS,
      "connect",
      "oauth",
      "auth-projection",
      "reconcile",
      "store",
      "serving",
      "connector-host",
      "gateway",
      "testing",
    ],
    packages: ["zod"],
    internal: true,
  },
};

/** Names that say nothing of what a folder owns. */
export const NAMELESS_FOLDERS: readonly string[] = ["shared", "common", "utils", "helpers", "lib"];
