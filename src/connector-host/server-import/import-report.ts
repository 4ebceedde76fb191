import { plainText } from "../../protocol/index.js";
import {
  ImportedSecret,
  type ImportNote,
  type ImportNoteKind,
  type ImportRefusal,
  type MissingSecret,
} from "./import-result.js";

const REFUSALS_TOLD = 100;
const PATH_LENGTH = 512;
const SECRET_BYTES = 16_384;

/** A path in the file. */
export type Place = readonly (string | number)[];

/** A path as it is told: whoever wrote the file chose its names. */
export function shownPlace(place: Place): string {
  return plainText(place.join("."), PATH_LENGTH);
}

/** Gathers what there is to say while a file is read. */
export class ImportReport {
  readonly secrets: ImportedSecret[] = [];
  readonly missing: MissingSecret[] = [];
  readonly notes: ImportNote[] = [];
  readonly refusals: ImportRefusal[] = [];
  readonly #asked = new Set<string>();
  #refusalCount = 0;

  /** All refusals, those that are not told included. */
  get refusalCount(): number {
    return this.#refusalCount;
  }

  refuse(place: Place, reason: string): void {
    this.#refusalCount += 1;
    if (this.refusals.length < REFUSALS_TOLD) this.refusals.push({ member: shownPlace(place), reason });
  }

  note(kind: ImportNoteKind, place: Place, reason: string): void {
    this.notes.push({ kind, member: shownPlace(place), reason });
  }

  /** Keeps a secret, unless it is larger than any that is one. */
  keep(name: string, place: Place, value: string): void {
    if (Buffer.byteLength(value, "utf8") > SECRET_BYTES) {
      this.refuse(place, `holds a credential of more than ${String(SECRET_BYTES)} bytes`);
      return;
    }
    this.secrets.push(new ImportedSecret(name, shownPlace(place), value));
  }

  /** Asks for a secret, once for each name. */
  ask(name: string, place: Place, input: MissingSecret["input"]): void {
    if (this.#asked.has(name)) return;
    this.#asked.add(name);
    this.missing.push({ name, member: shownPlace(place), input });
  }
}
