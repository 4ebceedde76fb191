/** Members of an entry that name its transport. */
export const TRANSPORT_MEMBERS = ["type", "transport", "transportType"] as const;
/** Members of an entry that name its address. */
export const ADDRESS_MEMBERS = ["url", "serverUrl", "httpUrl"] as const;
const STDIO_MEMBERS = ["command", "args", "env", "cwd"];
const HTTP_MEMBERS = [...ADDRESS_MEMBERS, "headers"];

const TOOLS = "no tool may be called until it is permitted here";
const DEADLINE = "programs don't agree on its unit; deadlines are set here";
const ABOUT = "says nothing of how the server is reached";
const STATE = "what is imported is paused until it is resumed";

/** Members of entries that are not taken over, and why the server is the same one without them. */
const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ...["allowedTools", "alwaysAllow", "autoAllow", "autoApprove", "disabledTools", "enabledTools"].map(because(TOOLS)),
  ...["excludeTools", "includeTools", "tools", "trust"].map(because(TOOLS)),
  ...["initTimeout", "requestTimeout", "startupTimeout", "timeout"].map(because(DEADLINE)),
  ...["$comment", "//", "_comment", "alwaysLoad", "comment", "description", "dev", "gallery"].map(because(ABOUT)),
  ...["icon", "iconUrl", "name", "title", "version"].map(because(ABOUT)),
  ...["disabled", "enabled"].map(because(STATE)),
]);

export type MemberVerdict =
  | { readonly kind: "read" }
  | { readonly kind: "left_out"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string };

/** What becomes of a member of an entry. One that nobody here knows could change what runs, and can't be left out. */
export function classifyEntryMember(name: string, kind: "stdio" | "http"): MemberVerdict {
  const [own, other] = kind === "stdio" ? [STDIO_MEMBERS, HTTP_MEMBERS] : [HTTP_MEMBERS, STDIO_MEMBERS];
  if (own.includes(name) || TRANSPORT_MEMBERS.some((member) => member === name)) return { kind: "read" };
  const leftOut = LEFT_OUT.get(name);
  if (leftOut !== undefined) return { kind: "left_out", reason: leftOut };
  if (!other.includes(name))
    return { kind: "refused", reason: "not known here: the server may be another one without" };
  const reason =
    kind === "stdio"
      ? "belongs to a server over HTTP, and this one is a program"
      : "belongs to a program, and this is none";
  return { kind: "refused", reason };
}

/** What the name of a transport in a file means; `undefined` for one that can't be spoken. */
export function transportOf(name: unknown): "stdio" | "http" | "sse" | undefined {
  switch (name) {
    case "stdio":
    case "local":
      return "stdio";
    case "http":
    case "remote":
    case "streamable-http":
    case "streamableHttp":
    case "streamable_http":
      return "http";
    case "sse":
      return "sse";
    default:
      return undefined;
  }
}

function because(reason: string): (name: string) => [string, string] {
  return (name) => [name, reason];
}
