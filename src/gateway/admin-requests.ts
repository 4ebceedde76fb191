import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { readBody } from "../serving/index.js";

/** Refuses an admin request. `issues` name the members of the body that can't be used. */
export interface AdminRefusal {
  readonly status: number;
  readonly code:
    | "bad_request"
    | "forbidden"
    | "method_not_allowed"
    | "not_found"
    | "not_remembered"
    | "too_large"
    | "unauthorized";
  readonly message: string;
  readonly issues?: readonly { readonly member: string; readonly reason: string }[] | undefined;
}

const MAX_BODY_BYTES = 64 * 1024;

const name = z.string().min(1);
const target = { accountId: name, connectorId: name };

export const targetShape = z.strictObject(target);
/** `secret` goes to the connection's upstream, and nowhere else. */
export const grantShape = z.strictObject({ ...target, secret: name.max(16_384).optional() });
export const switchShape = z.strictObject({ ...target, connectionId: name.optional() });
/** A revision as the snapshot writes it, or as a number. Without an account all go back. */
export const restoreShape = z.strictObject({
  accountId: name.optional(),
  revision: z.union([z.string().regex(/^\d{1,20}$/), z.int().min(1)]),
});
export const accountShape = z.strictObject({ accountId: name.optional() });

type JsonReading<T> =
  | { readonly kind: "read"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: AdminRefusal }
  | { readonly kind: "aborted" };

/** Reads the body of an admin request. */
export async function readJson<T>(request: IncomingMessage, shape: z.ZodType<T>): Promise<JsonReading<T>> {
  const reading = await readBody(request, { maxBytes: MAX_BODY_BYTES });
  if (reading.kind === "aborted") return reading;
  if (reading.kind === "too_large") {
    return refused({
      status: 413,
      code: "too_large",
      message: `The body has more than ${String(reading.limit)} bytes`,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(reading.body).toString("utf8"));
  } catch {
    return refused({ status: 400, code: "bad_request", message: "The body is not JSON" });
  }
  const parsed = shape.safeParse(json);
  if (parsed.success) return { kind: "read", value: parsed.data };
  const issues = parsed.error.issues.map(({ message, path }) => ({
    member: path.map(String).join("."),
    reason: message,
  }));
  return refused({ status: 400, code: "bad_request", message: "The body can't be used", issues });
}

function refused(refusal: AdminRefusal): { readonly kind: "refused"; readonly refusal: AdminRefusal } {
  return { kind: "refused", refusal };
}
