import { RemoteConnectorError } from "../../errors.js";
import { type ConfiguredValue, partsOf, type Table, type ValuePart } from "../registration/index.js";
import type { EnvironmentSource, SecretSource } from "./device-ports.js";

/** Where the references of a definition are resolved. */
export interface ValueSources {
  readonly secrets: SecretSource;
  readonly environment: EnvironmentSource;
}

type Reference = Exclude<ValuePart, string>;

/**
 * Resolves the values of one definition for one start of its server. What it gives is used and not kept.
 *
 * Rejects with `unresolved_reference` (`not_sent`), which names the reference and holds no value, and with the signal's reason,
 * however long a source takes.
 */
export class ValueResolver {
  readonly #connectorKey: string;
  readonly #sources: ValueSources;
  readonly #signal: AbortSignal;
  /** All secrets that were read, so that errors can be kept free of them. */
  readonly #secrets = new Set<string>();

  constructor(connectorKey: string, sources: ValueSources, signal: AbortSignal) {
    this.#connectorKey = connectorKey;
    this.#sources = sources;
    this.#signal = signal;
  }

  /** Those that were resolved so far. */
  get secrets(): readonly string[] {
    return [...this.#secrets];
  }

  /** `member`: the place of the value in its definition. */
  async text(member: string, value: ConfiguredValue): Promise<string> {
    let text = "";
    for (const part of partsOf(value)) text += typeof part === "string" ? part : await this.#read(member, part);
    return text;
  }

  /** The texts by name; `undefined` where the table has `null`. */
  async table(member: string, values: Table<ConfiguredValue | null>): Promise<Record<string, string | undefined>> {
    // Without a prototype: a variable may have any name.
    const texts: Record<string, string | undefined> = Object.create(null);
    for (const [name, value] of Object.entries(values)) {
      texts[name] = value === null ? undefined : await this.text(`${member}.${name}`, value);
    }
    return texts;
  }

  async #read(member: string, reference: Reference): Promise<string> {
    const read = await this.#ask(member, reference);
    const text = read === undefined && "env" in reference ? reference.default : read;
    if (text === undefined) throw this.#refused(member, reference, "missing");
    // What starts programs shows what it can't take.
    if (typeof text !== "string" || text.includes("\0")) throw this.#refused(member, reference, "unusable");
    if ("secret" in reference && text !== "") this.#secrets.add(text);
    return text;
  }

  async #ask(member: string, reference: Reference): Promise<string | undefined> {
    const { secrets, environment } = this.#sources;
    try {
      if ("env" in reference) return environment.read(reference.env);
      return await unlessAborted(this.#signal, secrets.read(reference.secret));
    } catch (cause) {
      if (this.#signal.aborted) throw this.#signal.reason;
      throw this.#refused(member, reference, "unreadable", cause);
    }
  }

  #refused(
    member: string,
    reference: Reference,
    reason: "missing" | "unreadable" | "unusable",
    cause?: unknown,
  ): RemoteConnectorError<"unresolved_reference"> {
    const source = "secret" in reference ? "secret" : "environment";
    const name = "secret" in reference ? reference.secret : reference.env;
    const what = source === "secret" ? "secret" : "variable";
    return new RemoteConnectorError("unresolved_reference", {
      message: `${this.#connectorKey} can't be started: ${member} needs the ${what} ${name}, which is ${reason}.`,
      details: { connectorKey: this.#connectorKey, member, source, name, reason },
      cause,
    });
  }
}

function unlessAborted<T>(signal: AbortSignal, value: T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    const listenNoMore = (): void => signal.removeEventListener("abort", onAbort);
    Promise.resolve(value).then(resolve, reject).finally(listenNoMore);
  });
}
