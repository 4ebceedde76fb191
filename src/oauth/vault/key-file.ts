import { KEY_BYTES, keyIdOf } from "./envelope.js";
import { unusable } from "./private-files.js";

/** Where one key is: in the file itself, or in the keychain under its id. */
export type KeyPlace =
  | { readonly kind: "file"; readonly id: string; readonly key: Uint8Array }
  | { readonly kind: "keychain"; readonly id: string };

const HEAD = "remote-connector vault key 1";
const ANY_HEAD = /^remote-connector vault key [0-9]+$/;

/** The text of a key file. The first key seals. */
export function writeKeyFile(places: readonly KeyPlace[]): string {
  const lines = places.map((place) =>
    place.kind === "file" ? `file ${place.id} ${writeKey(place.key)}` : `keychain ${place.id}`,
  );
  return [HEAD, ...lines, ""].join("\n");
}

/** Throws `store_unavailable` for anything that was not written so as a whole. No error shows what is in the file. */
export function parseKeyFile(text: string, path: string): readonly KeyPlace[] {
  const [head = "", ...lines] = text.split("\n");
  if (head !== HEAD) throw unusable(path, ANY_HEAD.test(head) ? "newer_format" : "damaged");
  const places = lines.slice(0, -1).map((line) => parsePlace(line, path));
  if (places.length === 0 || writeKeyFile(places) !== text) throw unusable(path, "damaged");
  return places;
}

export function writeKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("base64url");
}

/** The key of this id; `undefined` for a text that is not that one. */
export function parseKey(text: string, id: string): Uint8Array | undefined {
  const key = Buffer.from(text, "base64url");
  return key.length === KEY_BYTES && writeKey(key) === text && keyIdOf(key) === id ? key : undefined;
}

function parsePlace(line: string, path: string): KeyPlace {
  const [kind, id, encoded, ...more] = line.split(" ");
  if (id === undefined || !/^[\w-]{22}$/.test(id) || more.length > 0) throw unusable(path, "damaged");
  if (kind === "keychain" && encoded === undefined) return { kind, id };
  const key = kind === "file" && encoded !== undefined ? parseKey(encoded, id) : undefined;
  if (key === undefined) throw unusable(path, "damaged");
  return { kind: "file", id, key };
}
