const CONNECTOR_KEY = /^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/;

/**
 * Whether `value` can name a connector: 1 to 128 lower-case letters, digits, dots, underscores and hyphens, the first and
 * the last a letter or digit. The ids of releases and the slugs of registrations share this form and one key space.
 */
export function isConnectorKey(value: unknown): value is string {
  return typeof value === "string" && CONNECTOR_KEY.test(value);
}
