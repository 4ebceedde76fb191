const REPLACEMENT = "[redacted]";

/**
 * Takes known secrets out of text: as they are, as JSON escapes them, and as URLs encode them.
 *
 * Only whole secrets are found: whoever cuts text redacts it first.
 */
export class Redaction {
  /** The longest first, so that a secret that holds another is taken out whole. */
  readonly #forms: readonly string[];
  /** The length of the longest form in UTF-8 bytes; 0 when there is nothing to redact. */
  readonly longestBytes: number;

  constructor(secrets: readonly string[]) {
    const forms = new Set(secrets.flatMap(formsOf));
    forms.delete("");
    this.#forms = [...forms].toSorted((a, b) => b.length - a.length);
    this.longestBytes = Math.max(0, ...this.#forms.map((form) => new TextEncoder().encode(form).length));
  }

  apply(text: string): string {
    return this.#forms.reduce((rest, form) => rest.replaceAll(form, REPLACEMENT), text);
  }
}

function formsOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1)];
  try {
    return [...forms, encodeURIComponent(secret)];
  } catch {
    // Half a surrogate pair: no URL can hold it.
    return forms;
  }
}
