import type { GatewayConnector, SecretAuthorizing } from "../options.js";
import { type ControlError, inProgress, invalidRequest, notFound } from "./control-error.js";
import { canCarry } from "./credential.js";
import { type AuthorizationSession, isOver } from "./session.js";

/** What comes of a secret that is brought to a session. */
export type SecretOffer =
  | { readonly kind: "fit"; readonly session: AuthorizationSession; readonly authorizing: SecretAuthorizing }
  | { readonly kind: "refused"; readonly outcome: AuthorizationSession | ControlError };

/** Whether a session waits for this secret. One that is over is answered as it is. Pure. */
export function judgeSecret(
  session: AuthorizationSession | undefined,
  connector: GatewayConnector | undefined,
  secret: Buffer,
): SecretOffer {
  if (session === undefined) return refuse(notFound("authorization session"));
  if (isOver(session)) return refuse(session);
  if (session.status === "PROCESSING") return refuse(inProgress("The session has its secret", true));
  if (session.nextAction?.type !== "submit_secret" || connector?.authorizing?.kind !== "secret") {
    return refuse(invalidRequest("The session takes no secret"));
  }
  if (!canCarry(connector, secret)) return refuse(invalidRequest("The secret holds characters that can't be sent"));
  return { kind: "fit", session, authorizing: connector.authorizing };
}

function refuse(outcome: AuthorizationSession | ControlError): SecretOffer {
  return { kind: "refused", outcome };
}
