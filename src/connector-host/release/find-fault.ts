import type { z } from "zod";
import { plainText } from "../../protocol/index.js";

/** What is wrong with untrusted data, and where. */
export interface Fault {
  /** The path of the member at fault, its parts joined with dots, as it may be shown; `""` for the whole. */
  readonly member: string;
  readonly reason: string;
}

const PATH_LENGTH = 512;

type Issue = z.core.$ZodIssue;
type UnknownMember = Extract<Issue, { code: "unrecognized_keys" }>;

/**
 * The one fault that is told of data that a strict schema refuses. An unknown member comes before any other fault, wherever it
 * stands; `explainUnknown` says why there is no such member, given its name.
 */
export function findFault(issues: readonly Issue[], explainUnknown: (name: string) => string): Fault {
  const issue = issues.find(isUnknownMember) ?? issues[0];
  if (issue === undefined) return { member: "", reason: "can't be read" };
  if (!isUnknownMember(issue)) return { member: memberPath(issue.path), reason: issue.message };
  const [name = ""] = issue.keys;
  return { member: memberPath([...issue.path, name]), reason: explainUnknown(name) };
}

/** A path as it is told: whoever wrote the data chose its names. */
function memberPath(path: readonly PropertyKey[]): string {
  return plainText(path.map(String).join("."), PATH_LENGTH);
}

function isUnknownMember(issue: Issue): issue is UnknownMember {
  return issue.code === "unrecognized_keys";
}
