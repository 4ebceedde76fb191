const LITERAL = /^[A-Za-z0-9\-._*]$/;

/**
 * The `Authorization` of a client with a secret: both are form-encoded, with `A-Z a-z 0-9 - . _ *` literal and all else in percent
 * form. A space is `%20`, which a form decoder reads as it reads `+`, and a server that merely decodes percent signs reads as well.
 *
 * Source: RFC 6749, Client Password, and Appendix B; RFC 7617.
 */
export function basicCredentials(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`, "latin1").toString("base64")}`;
}

function formEncode(text: string): string {
  let encoded = "";
  for (const byte of Buffer.from(text, "utf8")) {
    const character = String.fromCharCode(byte);
    encoded += LITERAL.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}
