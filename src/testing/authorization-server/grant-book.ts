import { createHash } from "node:crypto";

/** What a person consented to: whose it is, and what it may do. */
export interface Consented {
  readonly clientId: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The resources that were asked for. Source: RFC 8707. */
  readonly resources: readonly string[];
}

/** A token that was issued. */
export interface IssuedToken extends Consented {
  readonly token: string;
  readonly kind: "access" | "refresh";
  /** Shared by all tokens that one consent led to. */
  readonly grantId: string;
  /** Unix time in milliseconds. */
  readonly issuedAtMs: number;
  /** Unix time in milliseconds; `undefined` for one that does not expire. */
  readonly expiresAtMs: number | undefined;
  /** `used`: a refresh token that was rotated away. */
  readonly state: "active" | "revoked" | "used";
}

/** What a code was issued for. */
export interface CodeRequest extends Consented {
  readonly redirectUri: string;
  readonly codeChallenge: string;
}

export interface GrantBookOptions {
  readonly random: (size: number) => Uint8Array;
  readonly codeLifetimeMs: number;
  readonly accessTokenLifetimeMs: number;
  readonly issuesRefreshTokens: boolean;
  readonly rotatesRefreshTokens: boolean;
}

/** The tokens that answer one token request. */
export interface IssuedPair {
  readonly access: IssuedToken;
  readonly refresh: IssuedToken | undefined;
}

interface IssuedCode extends CodeRequest {
  readonly grantId: string;
  readonly expiresAtMs: number;
  isUsed: boolean;
}

/**
 * Codes and tokens. A code works once; when it comes again, and when a refresh token comes again that was rotated away,
 * every token of that consent is revoked. Source: OAuth 2.1, Authorization Code and Refresh Token Protection.
 */
export class GrantBook {
  readonly #options: GrantBookOptions;
  readonly #codes = new Map<string, IssuedCode>();
  readonly #tokens = new Map<string, IssuedToken>();

  constructor(options: GrantBookOptions) {
    this.#options = options;
  }

  /** All tokens, in the order of their issue. */
  get tokens(): readonly IssuedToken[] {
    return [...this.#tokens.values()];
  }

  /** A code for what was consented to. */
  issueCode(request: CodeRequest, nowMs: number): string {
    const code = this.#secret("code");
    const expiresAtMs = nowMs + this.#options.codeLifetimeMs;
    this.#codes.set(code, { ...request, grantId: this.#secret("grant"), expiresAtMs, isUsed: false });
    return code;
  }

  /** Tokens for a code, or why there are none. */
  redeem(
    code: string,
    proof: { readonly clientId: string; readonly redirectUri: string | null; readonly codeVerifier: string | null },
    nowMs: number,
  ): IssuedPair | string {
    const known = this.#codes.get(code);
    if (known === undefined) return "the code is unknown";
    if (known.clientId !== proof.clientId) return "the code belongs to another client";
    if (known.isUsed) {
      this.revokeGrant(known.grantId);
      return "the code was used before";
    }
    known.isUsed = true;
    if (known.expiresAtMs <= nowMs) return "the code is too old";
    if (known.redirectUri !== proof.redirectUri) return "redirect_uri differs";
    if (proof.codeVerifier === null || challengeOf(proof.codeVerifier) !== known.codeChallenge) {
      return "code_verifier does not fit";
    }
    return this.#issue(known, known.grantId, nowMs, true);
  }

  /** New tokens for a refresh token, or why there are none. `scopes` may only shrink what was consented to. */
  refresh(token: string, clientId: string, scopes: readonly string[] | undefined, nowMs: number): IssuedPair | string {
    const known = this.#tokens.get(token);
    if (known?.kind !== "refresh") return "the refresh token is unknown";
    if (known.clientId !== clientId) return "the refresh token belongs to another client";
    if (known.state === "used") {
      this.revokeGrant(known.grantId);
      return "the refresh token was used before";
    }
    if (known.state === "revoked") return "the refresh token was revoked";
    if (scopes?.some((scope) => !known.scopes.includes(scope)) === true) return "the scope is larger";
    const rotates = this.#options.rotatesRefreshTokens;
    if (rotates) this.#tokens.set(token, { ...known, state: "used" });
    return this.#issue(known, known.grantId, nowMs, rotates, scopes);
  }

  /** Whether a resource server would take this access token now. */
  isValid(token: string, nowMs: number): boolean {
    const known = this.#tokens.get(token);
    if (known?.kind !== "access" || known.state !== "active") return false;
    return known.expiresAtMs === undefined || known.expiresAtMs > nowMs;
  }

  /** Revokes one access token, or with a refresh token all of its consent. Unknown ones are no error. */
  revoke(token: string): void {
    const known = this.#tokens.get(token);
    if (known === undefined) return;
    if (known.kind === "refresh") this.revokeGrant(known.grantId);
    else this.#tokens.set(token, { ...known, state: "revoked" });
  }

  /** Revokes all tokens of one consent. */
  revokeGrant(grantId: string): void {
    for (const [token, known] of this.#tokens) {
      if (known.grantId === grantId) this.#tokens.set(token, { ...known, state: "revoked" });
    }
  }

  /** `scopes` are the access token's; a refresh token keeps all that was consented to. Source: OAuth 2.1, Refreshing. */
  #issue(
    consented: Consented,
    grantId: string,
    nowMs: number,
    withRefresh: boolean,
    scopes: readonly string[] = consented.scopes,
  ): IssuedPair {
    const { accessTokenLifetimeMs, issuesRefreshTokens } = this.#options;
    const access = this.#token("access", { ...consented, scopes }, grantId, nowMs, nowMs + accessTokenLifetimeMs);
    if (!withRefresh || !issuesRefreshTokens) return { access, refresh: undefined };
    return { access, refresh: this.#token("refresh", consented, grantId, nowMs, undefined) };
  }

  #token(
    kind: IssuedToken["kind"],
    { clientId, resources, scopes, subject }: Consented,
    grantId: string,
    issuedAtMs: number,
    expiresAtMs: number | undefined,
  ): IssuedToken {
    const issued: IssuedToken = {
      token: this.#secret(kind),
      kind,
      clientId,
      subject,
      scopes,
      resources,
      grantId,
      issuedAtMs,
      expiresAtMs: expiresAtMs === Infinity ? undefined : expiresAtMs,
      state: "active",
    };
    this.#tokens.set(issued.token, issued);
    return issued;
  }

  #secret(what: string): string {
    return `${what}-${Buffer.from(this.#options.random(24)).toString("base64url")}`;
  }
}

/** The challenge of method S256. Source: RFC 7636, Client Creates the Code Challenge. */
function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier, "ascii").digest("base64url");
}
