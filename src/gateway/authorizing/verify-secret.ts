import type { SecretAuthorizing } from "../options.js";
import { providerTimeout, type ProviderFetchOptions } from "./provider-fetch.js";

export interface VerifyOptions extends ProviderFetchOptions {
  /** Told why a provider could not be asked. */
  readonly onFault: (error: unknown) => void;
}

/** Whether a provider takes a secret. One that can't be asked, or says nothing for too long, does not. Never rejects. */
export function verifySecret(
  verify: SecretAuthorizing["verify"],
  secret: Buffer,
  { clock, closed, onFault, timeoutMs }: VerifyOptions,
): Promise<boolean> {
  if (verify === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    const end = (isTaken: boolean): void => {
      cancel();
      closed.removeEventListener("abort", onClosed);
      resolve(isTaken);
    };
    const fail = (error: unknown): void => {
      onFault(error);
      end(false);
    };
    const onClosed = (): void => end(false);
    const cancel = clock.schedule(timeoutMs, () => fail(providerTimeout(timeoutMs)));
    closed.addEventListener("abort", onClosed);
    Promise.resolve(secret.toString("utf8")).then(verify).then(end, fail);
  });
}
