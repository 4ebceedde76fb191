import type { McpClient } from "../../../connect/index.js";
import { deliveryOf } from "../../../errors.js";
import { BoundClient } from "./bound-client.js";

/** The client of a lease. It tells of a call of which nothing is known: its server may still be at it, and ask. */
export class LeasedClient extends BoundClient {
  /** `onUnknown` is told before whoever called hears of it. */
  constructor(client: McpClient, onUnknown: () => void) {
    super(
      client,
      (request) =>
        new Proxy(request, {
          apply(target, _this, args) {
            const answer = Reflect.apply(target, undefined, args);
            answer.then(ignore, (reason: unknown) => {
              const delivery = deliveryOf(answer) ?? deliveryOf(reason);
              if (delivery !== "answered" && delivery !== "not_sent") onUnknown();
            });
            // The very promise, which knows its verdict.
            return answer;
          },
        }),
    );
  }
}

function ignore(): void {
  // Whoever called hears of it.
}
