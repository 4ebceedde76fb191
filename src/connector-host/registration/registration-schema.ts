import { z } from "zod";
import { isConnectorKey } from "../release/index.js";
import { capabilityList, DEFAULT_CAPABILITIES } from "./capabilities.js";
import { connectionSettings } from "./connection-settings.js";
import { displayName } from "./text-schemas.js";
import { declaredToolRules, toolRules } from "./tool-rules.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DAY_MS = 86_400_000;

/** A time of at most a day, in milliseconds. */
export const durationMs = z.int().min(1).max(DAY_MS);

const deadlines = z
  .strictObject({
    connectTimeoutMs: durationMs.optional(),
    idleTimeoutMs: durationMs.optional(),
    totalTimeoutMs: durationMs.optional(),
    lifecycleTimeoutMs: durationMs.optional(),
    listTimeoutMs: durationMs.optional(),
  })
  .readonly();

/** A connector key: the slug of a registration, the key of a managed program. */
export const connectorKey = z
  .string()
  .refine(isConnectorKey, "must be 1 to 128 of a-z 0-9 . _ -, and begin and end with a letter or digit");

/** Whether what is defined may be used. */
export const connectorState = z.enum(["active", "paused"]).default("paused");

/** What is said of a server when it is registered. */
const requested = {
  slug: connectorKey,
  displayName,
  settings: connectionSettings,
  deadlines: deadlines.prefault({}),
  capabilities: capabilityList.default(DEFAULT_CAPABILITIES),
};

/** The schema of a request for a registration. */
export const requestSchema = z.strictObject({ ...requested, descriptions: toolRules.descriptions }).readonly();

/** The schema of a server that the host's own configuration declares. */
export const declarationSchema = z.strictObject({ ...requested, ...declaredToolRules }).readonly();

/** The schema of a registration. */
export const registrationSchema = z
  .strictObject({
    id: z.string().regex(UUID, "must be a UUID in lower case"),
    ...requested,
    state: connectorState,
    ...toolRules,
  })
  .readonly();
