import type { Delivery, DeliveryEvidence, ErrorCode } from "../errors.js";
import { shownUrl } from "./endpoint.js";
import { type ExchangeEndEvent, numberExchange, tellConnect, tellEnd, tellHead, tellSent } from "./exchange-events.js";

type Outcome = ExchangeEndEvent["outcome"];

/** What a call tells of its exchange under way. There is one only while someone listens. */
export class ExchangeReport {
  readonly #exchange: number;
  #isOver = false;

  private constructor(exchange: number) {
    this.#exchange = exchange;
  }

  /**
   * Begins one for an exchange that is about to look for a connection. `undefined` when nobody listens. It is not told
   * yet: who listens may end the call, which must know its report by then.
   */
  static open(): ExchangeReport | undefined {
    const exchange = numberExchange();
    return exchange === undefined ? undefined : new ExchangeReport(exchange);
  }

  connect(
    url: URL,
    { method, operation, attempt }: { readonly method: string; readonly operation: string; readonly attempt: number },
    redirects: number,
  ): void {
    tellConnect({ exchange: this.#exchange, url: shownUrl(url), method, operation, attempt, redirects });
  }

  sent(): void {
    tellSent({ exchange: this.#exchange });
  }

  head(status: number, mediaType: string): void {
    tellHead({ exchange: this.#exchange, status, mediaType });
  }

  /** Once: what ends the exchange again is not worth a word. */
  end(outcome: Outcome, { messages, elapsedMs }: DeliveryEvidence, delivery?: Delivery, code?: ErrorCode): void {
    if (this.#isOver) return;
    this.#isOver = true;
    tellEnd({ exchange: this.#exchange, outcome, delivery, code, messages, elapsedMs });
  }
}
