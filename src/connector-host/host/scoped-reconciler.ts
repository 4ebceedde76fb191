import type { FaultClass, Outcome, Reconciler, RunContext } from "../../reconcile/index.js";
import type { DeviceControl } from "../device/index.js";
import { DEVICE_SCOPE } from "./account-scope.js";

/** Who brings about what is desired in each kind of scope. */
export interface ScopedReconcilers {
  readonly account: Reconciler;
  readonly device: Reconciler;
}

/** Gives each key to the reconciler of its scope, and each failure to the one that it came from. */
export class ScopedReconciler implements Reconciler {
  readonly #reconcilers: ScopedReconcilers;
  /** Failures of connectors of the device. */
  readonly #ofDevice = new WeakSet<object>();

  constructor(reconcilers: ScopedReconcilers) {
    this.#reconcilers = reconcilers;
  }

  async reconcile(context: RunContext): Promise<Outcome> {
    const { account, device } = this.#reconcilers;
    if (context.scope !== DEVICE_SCOPE) return account.reconcile(context);
    try {
      return await device.reconcile(context);
    } catch (error) {
      this.#mark(error);
      throw error;
    }
  }

  classifyFault(error: unknown): FaultClass {
    const { account, device } = this.#reconcilers;
    const isOfDevice = typeof error === "object" && error !== null && this.#ofDevice.has(error);
    return (isOfDevice ? device : account).classifyFault(error);
  }

  /** Convergence, as those who hold servers of the device tell it of failures. */
  control(controller: DeviceControl): DeviceControl {
    return {
      report: (token, outcome) => {
        if (outcome.kind === "fault") this.#mark(outcome.error);
        controller.report(token, outcome);
      },
      exited: (token, error) => {
        this.#mark(error);
        controller.exited(token, error);
      },
    };
  }

  #mark(error: unknown): void {
    if (typeof error === "object" && error !== null) this.#ofDevice.add(error);
  }
}
