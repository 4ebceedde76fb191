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
  /** Of the key that its sender must prove to have; `undefined` for a bearer. Source: RFC 9449. */
  readonly thumbprint: string | undefined;
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
  /** Of the key that the tokens will be bound to, where the client said so. Source: RFC 9449, Authorization Code Binding. */
  readonly thumbprint?: string | undefined;
}

/** How a client proves that a code or a refresh token is its own. */
export interface GrantProof {
  readonly clientId: string;
  /** Of the key that signed the proof that came with the request. */
  readonly thumbprint?: string | undefined;
  /** Whether refresh tokens are bound to that key as well, as those of public clients are. Source: RFC 9449. */
  readonly bindsRefreshTokens?: boolean | undefined;
}

/** What tokens of one grant are bound to. */
interface Binding {
  readonly grantId: string;
  readonly thumbprint: string | undefined;
  readonly bindsRefreshTokens?: boolean | undefined;
}

export interface GrantBookOptions {
  readonly random: (size: number) => Uint8Array;
  readonly codeLifetimeMs: number;
  readonly accessTokenLifetimeMs: number;
  /** `"offline_access"`: only for a consent with that scope. */
  readonly issuesRefreshTokens: boolean | "offline_access";
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
  #options: GrantBookOptions;
  readonly #codes = new Map<string, IssuedCode>();
  readonly #tokens = new Map<string, IssuedToken>();

  constructor(options: GrantBookOptions) {
    this.#options = options;
  }

  /** What counts for tokens from now on. */
  configure(options: GrantBookOptions): void {
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
    proof: GrantProof & { readonly redirectUri: string | null; readonly codeVerifier: string | null },
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
    const { grantId, thumbprint } = known;
    if (thumbprint !== undefined && thumbprint !== proof.thumbprint) return "the code is bound to another key";
    return this.#issue(known, { ...proof, grantId, thumbprint: proof.thumbprint }, nowMs, true);
  }

  /** An access token that no code led to, and no refresh token. */
  grant(consented: Consented, thumbprint: string | undefined, nowMs: number): IssuedPair {
    return this.#issue(consented, { grantId: this.#secret("grant"), thumbprint }, nowMs, false);
  }

  /** New tokens for a refresh token, or why there are none. `scopes` may only shrink what was consented to. */
  refresh(token: string, proof: GrantProof, scopes: readonly string[] | undefined, nowMs: number): IssuedPair | string {
    const known = this.#tokens.get(token);
    if (known?.kind !== "refresh") return "the refresh token is unknown";
    if (known.clientId !== proof.clientId) return "the refresh token belongs to another client";
    if (known.thumbprint !== undefined && known.thumbprint !== proof.thumbprint) {
      return "the refresh token is bound to another key";
    }
    if (known.state === "used") {
      this.revokeGrant(known.grantId);
      return "the refresh token was used before";
    }
    if (known.state === "revoked") return "the refresh token was revoked";
    if (known.expiresAtMs !== undefined && known.expiresAtMs <= nowMs) return "the refresh token is too old";
    if (scopes?.some((scope) => !known.scopes.includes(scope)) === true) return "the scope is larger";
    const rotates = this.#options.rotatesRefreshTokens;
    if (rotates) this.#tokens.set(token, { ...known, state: "used" });
    const { grantId } = known;
    return this.#issue(known, { ...proof, grantId, thumbprint: proof.thumbprint }, nowMs, rotates, scopes);
  }

  /** The access token, where a resource server would take it now. */
  findValid(token: string, nowMs: number): IssuedToken | undefined {
    const known = this.#tokens.get(token);
    if (known?.kind !== "access" || known.state !== "active") return undefined;
    return known.expiresAtMs === undefined || known.expiresAtMs > nowMs ? known : undefined;
  }

  /** Ends a token's time. Unknown ones are no error. */
  expire(token: string, nowMs: number): void {
    const known = this.#tokens.get(token);
    if (known !== undefined) this.#tokens.set(token, { ...known, expiresAtMs: nowMs });
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
    binding: Binding,
    nowMs: number,
    withRefresh: boolean,
    scopes: readonly string[] = consented.scopes,
  ): IssuedPair {
    const { accessTokenLifetimeMs, issuesRefreshTokens } = this.#options;
    const access = this.#token("access", { ...consented, scopes }, binding, nowMs, nowMs + accessTokenLifetimeMs);
    if (!withRefresh || !grantsRefresh(issuesRefreshTokens, consented.scopes)) return { access, refresh: undefined };
    const thumbprint = binding.bindsRefreshTokens === true ? binding.thumbprint : undefined;
    return { access, refresh: this.#token("refresh", consented, { ...binding, thumbprint }, nowMs, undefined) };
  }

  #token(
    kind: IssuedToken["kind"],
    { clientId, resources, scopes, subject }: Consented,
    { grantId, thumbprint }: Binding,
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
      thumbprint,
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

function grantsRefresh(option: GrantBookOptions["issuesRefreshTokens"], scopes: readonly string[]): boolean {
  return option === "offline_access" ? scopes.includes("offline_access") : option;
}

/** The challenge of method S256. Source: RFC 7636, Client Creates the Code Challenge. */
function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier, "ascii").digest("base64url");
}
