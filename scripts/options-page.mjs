import { parseSync } from "oxc-parser";
import { alignedTable } from "./aligned-table.mjs";

/** What is shown, in this order: the interface, and the file that declares it. */
const TABLES = [
  ["SharedConnectOptions", "src/connect/connect-options.ts"],
  ["SupervisionOptions", "src/connect/supervision/supervision-options.ts"],
  ["ModernClientOptions", "src/modern-client/client-options.ts"],
  ["ModernStreamableHTTPClientOptions", "src/modern-client/http-client-options.ts"],
  ["ModernStdioClientOptions", "src/modern-client/stdio/stdio-options.ts"],
  ["TelemetryOptions", "src/transport/telemetry.ts"],
  ["EndpointOptions", "src/transport/endpoint-options.ts"],
  ["TransportOptions", "src/transport/transport-options.ts"],
  ["DeadlineOptions", "src/transport/transport-options.ts"],
  ["ProcessOptions", "src/transport/process-options.ts"],
  ["ConnectionOptions", "src/transport/connection-options.ts"],
  ["ClientCertificate", "src/transport/connection-options.ts"],
  ["ProxyAddress", "src/transport/connection-options.ts"],
  ["RequestOptions", "src/protocol/client-calls.ts"],
  ["CallOptions", "src/modern-client/call-options.ts"],
  ["NotifyOptions", "src/modern-client/call-options.ts"],
  ["ToolCallOptions", "src/modern-client/call-options.ts"],
  ["InputHandlers", "src/protocol/input/input-handlers.ts"],
  ["ListenOptions", "src/modern-client/subscriptions/listen-options.ts"],
  ["KeepListeningOptions", "src/modern-client/subscriptions/listen-options.ts"],
  ["ListAllToolsOptions", "src/modern-client/call-options.ts"],
  ["WithDetail", "src/protocol/client-calls.ts"],
  ["ResponseCacheOptions", "src/modern-client/response-cache.ts"],
  ["LegacyStreamableHTTPClientOptions", "src/legacy-client/http/options.ts"],
  ["LegacySSEClientOptions", "src/legacy-client/http/sse-options.ts"],
  ["LegacyStdioOptions", "src/legacy-client/stdio-options.ts"],
  ["LegacyClientOptions", "src/legacy-client/client-options.ts"],
  ["LegacyCallOptions", "src/legacy-client/call-options.ts"],
  ["LegacyListAllToolsOptions", "src/legacy-client/call-options.ts"],
  ["OAuthOptions", "src/oauth/oauth-options.ts"],
  ["ClientIdentityOptions", "src/oauth/oauth-options.ts"],
  ["PreRegisteredClient", "src/oauth/oauth-options.ts"],
  ["OAuthTransportOptions", "src/oauth/oauth-options.ts"],
  ["FetchExchangeOptions", "src/transport/fetch-exchange.ts"],
  ["UndiciExchangeOptions", "src/transport/undici-exchange.ts"],
];

/**
 * The page of options of the client: each with its type and what its docstring says.
 *
 * @param {(path: string) => string} read gives the text of a source file
 * @returns {string}
 */
export function optionsPage(read) {
  const names = new Set(TABLES.map(([name]) => name));
  return `${[
    "# Options",
    "<!-- Generated from the docstrings of the options by `npm run docs`. Edit those. -->",
    "What `ModernStreamableHTTPClient`, `ModernStdioClient`, the legacy clients, their calls and `createOAuth` can be told. A name that is not here is refused with `invalid_options`, which says what was probably meant. Durations are in milliseconds, sizes in bytes; `Infinity` is no limit.",
    ...TABLES.map(([name, path]) => tableOf(name, path, read(path), names)),
  ].join("\n\n")}\n`;
}

function tableOf(name, path, source, names) {
  const { program, comments } = parseSync(path, source);
  const exported = program.body.find((node) => node.declaration?.id?.name === name);
  if (exported === undefined) throw new Error(`${path} exports no ${name}`);
  const { extends: bases, body } = exported.declaration;
  const inherited = bases.map(inheritedFrom);
  const rows = body.body.map((member) => {
    const isNeeded = member.optional ? "" : " (required)";
    return [`\`${member.key.name}\`${isNeeded}`, typeOf(member), docAbove(member.start)];
  });
  return [
    `## ${name}`,
    docAbove(exported.start),
    inherited.length === 0 ? "" : `With those of ${inherited.join(" and ")}.`,
    alignedTable([["option", "type", "what it does"], ...rows]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");

  /** A table that all options are of, or some of one: `Pick<Table, "option" | …>`. */
  function inheritedFrom({ expression, typeArguments }) {
    const [table, picked] = expression.name === "Pick" ? (typeArguments?.params ?? []) : [];
    const base = table === undefined ? expression.name : table.typeName.name;
    if (!names.has(base)) throw new Error(`${base} is on no table`);
    if (picked === undefined) return `\`${base}\``;
    const members = (picked.type === "TSUnionType" ? picked.types : [picked]).map(({ literal }) => literal.value);
    return `\`${base}\`, but only ${members.map((member) => `\`${member}\``).join(", ")}`;
  }

  function typeOf({ typeAnnotation }) {
    const { start, end } = typeAnnotation.typeAnnotation;
    const type = withoutComments(start, end)
      .replace(/^\s*\| /, "")
      .replace(/ \| undefined$/, "");
    return `\`${type.replaceAll("|", "\\|")}\``;
  }

  function withoutComments(start, end) {
    let text = "";
    let from = start;
    for (const comment of comments.filter((one) => one.start >= start && one.end <= end)) {
      text += source.slice(from, comment.start);
      from = comment.end;
    }
    return (text + source.slice(from, end)).replaceAll(/\s+/g, " ").trim();
  }

  /** The text of the docstring that ends right above a position, on one line. */
  function docAbove(position) {
    const doc = comments.find(
      ({ end, value }) => value.startsWith("*") && end <= position && source.slice(end, position).trim() === "",
    );
    return (doc?.value.slice(1) ?? "")
      .replaceAll(/^\s*\* ?/gm, "")
      .replaceAll(/\{@link (\w+)\}/g, "`$1`")
      .replaceAll(/\s+/g, " ")
      .replaceAll("|", "\\|")
      .trim();
  }
}
