import type { ManagedStdioConnector, RegistrationRequest } from "../registration/index.js";

/**
 * What a note is about.
 *
 * - `left_out`: a member is not taken over.
 * - `read_as_variable`: a value `$NAME` was taken for the variable of that name.
 * - `may_show_credential`: what stays in the definition, or on a command line, looks like a credential.
 */
export type ImportNoteKind = "left_out" | "read_as_variable" | "may_show_credential";

/** Something about the file that a person should know. `member` is a path in it. */
export interface ImportNote {
  readonly kind: ImportNoteKind;
  readonly member: string;
  readonly reason: string;
}

/** Why the file is refused. */
export interface ImportRefusal {
  readonly member: string;
  readonly reason: string;
}

/** A secret that the definitions need and the file only asks for. */
export interface MissingSecret {
  /** The name by which a definition refers to it. */
  readonly name: string;
  readonly member: string;
  /** What the file says of it to people. Inputs of the same id may be asked for once, but are kept for each server. */
  readonly input: { readonly id: string; readonly description?: string | undefined };
}

/** What one entry of the file becomes. `isDisabled`: it is switched off there. */
export type ImportedServer = {
  readonly member: string;
  readonly isDisabled: boolean;
} & (
  | { readonly kind: "registration"; readonly request: RegistrationRequest }
  | { readonly kind: "stdio"; readonly connector: ManagedStdioConnector }
);

/** What an import would do; nothing was done. */
export type ImportResult =
  | {
      readonly kind: "accepted";
      /** In the order of the file, but for names that are whole numbers, which come first. */
      readonly servers: readonly ImportedServer[];
      /** To be kept under their names before anything is used. */
      readonly secrets: readonly ImportedSecret[];
      readonly missing: readonly MissingSecret[];
      readonly notes: readonly ImportNote[];
    }
  | {
      readonly kind: "refused";
      /** At most 100. */
      readonly refusals: readonly ImportRefusal[];
      readonly refusalCount: number;
    };

/** A credential that stood in the file. It is shown by nothing but {@link ImportedSecret.reveal}. */
export class ImportedSecret {
  /** The name by which a definition refers to it. */
  readonly name: string;
  /** Where it stood. */
  readonly member: string;
  readonly #value: string;

  constructor(name: string, member: string, value: string) {
    this.name = name;
    this.member = member;
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }
}
