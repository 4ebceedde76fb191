import { type ManagedConnector, type ManagementView, plainText } from "../admin/index.js";
import { LOGOUT_PATH, PAGE_PATH } from "./classify-request.js";
import { PAGE_STYLE } from "./page-headers.js";

/** The status of a host as a page that needs no script. Everything of others is text in it. Pure. */
export function statusPage({
  host,
  url,
  accountId,
  connectors,
  agents,
  approvals,
  calls = [],
}: ManagementView): string {
  const rows = connectors.map(connectorRow);
  const waiting = approvals.map(({ connectorKey, toolName, agentSessionId }) =>
    row([connectorKey, toolName, agentSessionId]),
  );
  const last = calls.map((call) =>
    row([timeText(call.startedAt), call.connectorKey, call.nativeName, call.kind, call.verdict ?? call.state]),
  );
  const counts = `${String(agents.bindings + agents.durableBindings)} agents are bound, ${String(agents.requests)} requests run.`;
  return page(
    `${host.name} ${host.version}`,
    [
      `<h1>${escapeHtml(host.name)} ${escapeHtml(host.version)}</h1>`,
      `<p>Agents reach it at <code>${escapeHtml(url)}</code>. ${counts}`,
      `${accountId === undefined ? "Nobody is signed in." : `${escapeHtml(accountId)} is signed in.`}</p>`,
      table("Connectors", ["Connector", "State", "Since", "Next attempt", "Tools", "From"], rows),
      waiting.length === 0 ? "" : table("Calls that wait for an approval", ["Connector", "Tool", "Agent"], waiting),
      last.length === 0 ? "" : table("Last requests", ["At", "Connector", "Name", "Kind", "Verdict"], last),
      `<form method="post" action="${LOGOUT_PATH}"><button>End this session</button></form>`,
    ].join("\n"),
  );
}

/**
 * The answer to a link. It goes on to the page by itself, from a page of this origin: a browser that came from another one would not send
 * the new cookie with a redirect. The session's key is behind the `#`, which no server is told.
 */
export function openedPage(key: string): string {
  const target = `${PAGE_PATH}#key=${key}`;
  const refresh = `<meta http-equiv="refresh" content="0;url=${target}">`;
  return page("Opened", `<h1>The status page is open</h1><p><a href="${target}">Go on</a></p>`, refresh);
}

/** A page that only says something. Pure. */
export function noticePage(title: string, text: string): string {
  return page(title, `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>`);
}

function connectorRow(connector: ManagedConnector): string {
  const { connectorKey, displayName, state, reason, since, nextAttemptAt, tools, place } = connector;
  const name = displayName === connectorKey ? connectorKey : `${displayName} (${connectorKey})`;
  return row([
    name,
    reason === undefined ? state : `${state} (${reason})`,
    timeText(since),
    timeText(nextAttemptAt),
    toolCounts(tools),
    place,
  ]);
}

function toolCounts(tools: ManagedConnector["tools"]): string {
  const count = (permission: string): string =>
    `${String(tools.filter((tool) => tool.permission === permission).length)} ${permission}`;
  return tools.length === 0 ? "" : ["allow", "ask", "off"].map(count).join(", ");
}

/** The first cell names the row. */
function row([first = "", ...rest]: readonly string[]): string {
  const cells = rest.map((cell) => `<td>${escapeHtml(plainText(cell))}</td>`).join("");
  return `<tr><th scope="row">${escapeHtml(plainText(first))}</th>${cells}</tr>`;
}

function table(caption: string, columns: readonly string[], rows: readonly string[]): string {
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join("");
  return `<table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function page(title: string, body: string, head = ""): string {
  return [
    "<!doctype html>",
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>${head}`,
    `<meta name="viewport" content="width=device-width"><style>${PAGE_STYLE}</style></head>`,
    `<body><main>${body}</main></body></html>`,
  ].join("\n");
}

function timeText(epochMs: number | undefined): string {
  return epochMs === undefined ? "" : new Date(epochMs).toISOString();
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}
