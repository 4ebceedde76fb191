/** Where the server is reached. */
export type AuthorizationEndpoint = "authorize" | "metadata" | "register" | "revoke" | "token";

/** What goes wrong with one request. */
export type AuthorizationServerFault = {
  /** How many requests meet it. 1 when left out. */
  readonly times?: number | undefined;
  /** The path of those that do: metadata has several. Any when left out. */
  readonly path?: string | undefined;
} & (
  | {
      readonly endpoint: AuthorizationEndpoint;
      /** `malformed`: 200 with JSON that ends too early. */
      readonly kind: "drop_connection" | "malformed";
    }
  | { readonly endpoint: AuthorizationEndpoint; readonly kind: "delay"; readonly ms: number }
  | {
      readonly endpoint: AuthorizationEndpoint;
      readonly kind: "status";
      readonly status: number;
      /** As JSON, whatever it is. Empty when left out. */
      readonly body?: string | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  /** An error in OAuth's own words: in JSON, or from `authorize` by a redirect. */
  | { readonly endpoint: Exclude<AuthorizationEndpoint, "metadata">; readonly kind: "error"; readonly error: string }
  /** The answer to the client has another `state`, or none, or no `iss`. */
  | { readonly endpoint: "authorize"; readonly kind: "no_issuer" | "no_state" | "wrong_state" }
  /** It has another `iss`: `https://issuer.test`, when left out. */
  | { readonly endpoint: "authorize"; readonly kind: "wrong_issuer"; readonly issuer?: string | undefined }
);

interface Waiting {
  readonly fault: AuthorizationServerFault;
  left: number;
}

/** The faults that wait for a request. A request meets at most one: the oldest of its endpoint. */
export class AuthorizationFaults {
  #waiting: Waiting[] = [];

  add(fault: AuthorizationServerFault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting = [];
  }

  take(endpoint: AuthorizationEndpoint, path = ""): AuthorizationServerFault | undefined {
    const met = this.#waiting.find(({ fault }) => fault.endpoint === endpoint && (fault.path ?? path) === path);
    if (met === undefined) return undefined;
    met.left -= 1;
    if (met.left < 1) this.#waiting = this.#waiting.filter((waiting) => waiting !== met);
    return met.fault;
  }
}
