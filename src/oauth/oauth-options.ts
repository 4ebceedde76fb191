import type { AllowedAddresses, Clock, ConnectionOptions } from "../transport/index.js";
import type { CallbackReceiver, OpenUrl } from "./interaction.js";
import type { SigningKey } from "./oauth-client.js";
import type { CredentialStore, LeaseStore } from "./ports.js";

/** A client that was registered by hand. */
export interface PreRegisteredClient {
  /** Where. Left out: at the first authorization server that a server leads to, and from then on at that one alone. */
  readonly issuer?: string | undefined;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** Default: the first of what the authorization server takes and what is given here can do. */
  readonly authMethod?: "client_secret_basic" | "client_secret_post" | "none" | "private_key_jwt" | undefined;
  readonly signingKey?: SigningKey | undefined;
  /** Sent exactly so. Default: those of the callback receiver. */
  readonly redirectUris?: readonly string[] | undefined;
}

/** Who the client is. What is left out is not tried; the order is that of the specification: these, a document, registration. */
export interface ClientIdentityOptions {
  readonly preRegistered?: readonly PreRegisteredClient[] | undefined;
  /** The https URL, with a path, of the client's metadata document. */
  readonly metadataDocument?: string | undefined;
  /** Whether to register where no other way is open. Default true. */
  readonly registers?: boolean | undefined;
}

/** How tokens are got without a person. */
export type ServiceGrant =
  /** The client's own. With `identity.preRegistered`. Source: ext-auth, OAuth Client Credentials. */
  | { readonly kind: "client_credentials" }
  /** An ID-JAG of the enterprise's identity provider, exchanged. Source: ext-auth, Enterprise-Managed Authorization. */
  | {
      readonly kind: "enterprise_managed";
      readonly tokenEndpoint: string;
      /** The client's id at the identity provider, and its secret there. */
      readonly clientId?: string | undefined;
      readonly clientSecret?: string | undefined;
      /** How the secret is shown there. Default `client_secret_post`, in the body. */
      readonly authMethod?: "client_secret_basic" | "client_secret_post" | undefined;
      /** The person's ID token at the identity provider, asked for anew each time. */
      readonly idToken: () => string | Promise<string>;
    }
  /** A workload's own JWT, asked for anew each time. Never anything else after an error. Source: RFC 7523. */
  | {
      readonly kind: "workload_identity";
      readonly assertion: () => string | Promise<string>;
      /**
       * The authorization server that the JWT is for: no other one is sent it. Left out: whichever the MCP server leads to, if its issuer or
       * its token endpoint is an audience of the JWT.
       */
      readonly issuer?: string | undefined;
    };

/**
 * How the requests of authorization are made. Nothing that is configured for the MCP server's own connection is used for them.
 *
 * With a `proxy`, names are the proxy's to look up, and which addresses they may stand for is the proxy's to say. Hosts that are addresses
 * are judged here as without one, and so are names that the environment's `NO_PROXY` excepts. The proxy itself may be anywhere.
 */
export interface OAuthTransportOptions extends Pick<ConnectionOptions, "ca" | "lookup" | "proxy"> {
  /**
   * Permits private addresses when the MCP endpoint itself stands for one. Default false: only public addresses, and loopback for an
   * endpoint on loopback. A name that only a given `proxy` may look up stands for none.
   */
  readonly allowPrivateAddresses?: boolean | undefined;
  /** For one whole request. Default 30,000 ms. */
  readonly requestTimeoutMs?: number | undefined;
  /** The largest answer. Default 1 MiB. */
  readonly maxAnswerBytes?: number | undefined;
}

/** What {@link createOAuth} can be told. */
export interface OAuthOptions {
  /** What authorization servers show people as the name of the client. */
  readonly clientName: string;
  /** The client's home page, which they may show as well. */
  readonly clientUri?: string | undefined;
  readonly identity?: ClientIdentityOptions | undefined;
  /** Shows a person the page where they authorize; `false`: nobody is there, and `sign_in_required` says where they would go. Default: the system's browser. */
  readonly openUrl?: OpenUrl | false | undefined;
  /** Where browsers come back. Default: a listener on 127.0.0.1. */
  readonly callback?: CallbackReceiver | undefined;
  /** How long a person may take, or a grant with all that it asks, in milliseconds. Default 300,000. */
  readonly signInTimeoutMs?: number | undefined;
  /** Tokens without a person. Left out: the code flow. */
  readonly grant?: ServiceGrant | undefined;
  /** Scopes that are asked for beside those that servers name. Default none. */
  readonly scopes?: readonly string[] | undefined;
  /** Whether tokens are bound to a key where the authorization server can do that. Default false, but for resources that take nothing else. */
  readonly dpop?: boolean | undefined;
  /** Whether `resource` is sent to authorization servers. Default true; some old ones refuse it. */
  readonly sendsResource?: boolean | undefined;
  /** Where tokens and registrations are kept. Default: in this process. */
  readonly store?: OAuthStore | undefined;
  readonly transport?: OAuthTransportOptions | undefined;
  /** Told of what happens, without a secret in it. What it throws is ignored. */
  readonly onEvent?: ((event: OAuthEvent) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Unix time in milliseconds. Default `Date.now`. */
  readonly wallNow?: (() => number) | undefined;
  /** So many bytes that nobody can guess. Default: the system's. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
}

/** A store that several processes may use at once. What `openSharedStore` opens has both parts. */
export interface OAuthStore {
  readonly credentials: CredentialStore;
  readonly leases: LeaseStore;
}

/** What happened, for logs and programs. */
export type OAuthEvent = { readonly endpoint: string; readonly account: string } & (
  | { readonly kind: "discovered"; readonly issuer: string }
  | { readonly kind: "registered"; readonly issuer: string }
  | { readonly kind: "sign_in_started" | "signed_in"; readonly issuer: string; readonly scopes: readonly string[] }
  | {
      readonly kind: "token_issued" | "token_refreshed" | "token_adopted";
      readonly issuer: string;
      readonly expiresAt: number | undefined;
    }
  | {
      readonly kind: "refresh_failed" | "token_refused" | "signed_out" | "issuer_changed";
      readonly issuer: string;
      readonly code?: string | undefined;
    }
);

/** For the requester of one endpoint. */
export interface RequesterConfig extends Pick<ConnectionOptions, "ca" | "lookup" | "proxy"> {
  readonly allowedAddresses: AllowedAddresses;
  readonly requestTimeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
}
