const CONNECTOR_KEY = /^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/;
/** C0 and C1 controls, DEL, and halves of surrogate pairs, which no store keeps as they are. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;
const MAX_LENGTH = 512;

/** Whether `value` can name a connector: at most 128 of `a-z 0-9 . _ -`, beginning and ending with a letter or digit. */
export function isConnectorKey(value: unknown): value is string {
  return typeof value === "string" && CONNECTOR_KEY.test(value);
}

/** Whether `value` can be an opaque identifier of the control plane: 1 to 512 characters that survive a store. */
export function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= MAX_LENGTH && !UNPRINTABLE.test(value);
}
