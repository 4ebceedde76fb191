import { isRemoteConnectorError } from "../errors.js";
import {
  decodeHeaderValue,
  isJsonObject,
  type JsonObject,
  mirrorArguments,
  type RequestId,
  type ToolContract,
} from "../protocol/index.js";
import { headerValue, type HeaderFields, isPlainHeaderValue } from "./header-fields.js";
import { type Refusal, refuseHeader, refuseParams } from "./refusal.js";

/**
 * Compares the `Mcp-Param-*` headers of a `tools/call` with its arguments, under the contract that the tool has now.
 * Pure; never throws.
 *
 * A parameter with a value needs its header, one without (`null` counts as without) must not have it; Base64-wrapped
 * values are decoded first; integers are equal as numbers, so that `42.0` equals `42`. Refused with 400 and `-32020`;
 * with `-32602` when an argument has a value that no header can mirror. Headers of names that the contract does not
 * know are ignored, as the revision asks of everyone who does not recognize them.
 *
 * Source: 2026-07-28, Streamable HTTP, Server Behavior for Custom Headers, Server Validation.
 */
export function checkParameterHeaders(
  headers: HeaderFields,
  contract: ToolContract,
  args: JsonObject,
  id: RequestId,
): Refusal | undefined {
  if (contract.parameters.length === 0) return undefined;
  let expected: ReadonlyMap<string, string>;
  try {
    expected = new Map(mirrorArguments(contract, args).map(({ header, value }) => [header, value]));
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_argument")) throw error;
    return refuseParams(id, `Argument ${error.details.argument}: ${error.details.reason}`);
  }
  for (const { header, path } of contract.parameters) {
    const refusal = checkOne(headers, header, expected.get(header), isNumberAt(args, path), id);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkOne(
  headers: HeaderFields,
  header: string,
  expected: string | undefined,
  numeric: boolean,
  id: RequestId,
): Refusal | undefined {
  const value = headerValue(headers, header.toLowerCase());
  if (value === undefined) return expected === undefined ? undefined : refuseHeader(id, header, "is missing");
  if (expected === undefined) return refuseHeader(id, header, "has no value in the arguments");
  if (!isPlainHeaderValue(value)) return refuseHeader(id, header, "holds characters that a header can't carry");
  const decoded = decodeHeaderValue(value);
  if (decoded === undefined) return refuseHeader(id, header, "is not decodable Base64");
  const equal = decoded === expected || (numeric && integerText(decoded) === expected);
  return equal ? undefined : refuseHeader(id, header, "does not equal the arguments");
}

/** The shortest text of a decimal integer with a fraction of zeros; exact, unlike a detour through a double. */
function integerText(text: string): string | undefined {
  const match = /^(-?(?:0|[1-9]\d*))\.0+$/.exec(text);
  const digits = match?.[1] ?? (text === "-0" ? text : undefined);
  return digits === "-0" ? "0" : digits;
}

function isNumberAt(args: JsonObject, path: readonly string[]): boolean {
  let value: unknown = args;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
  }
  return typeof value === "number";
}
