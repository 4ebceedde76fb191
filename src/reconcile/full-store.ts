import { isRemoteConnectorError } from "../errors.js";
import type { UnitOfWork } from "./ports.js";

/**
 * The same store, which calls `onFull` after each transaction that failed with `store_full`, before its promise rejects. The
 * work is not done again here: whoever asked for it does that, or is told.
 */
export function whenFull<Tx>(store: UnitOfWork<Tx>, onFull: () => void): UnitOfWork<Tx> {
  return {
    async write(work) {
      try {
        return await store.write(work);
      } catch (error) {
        if (isRemoteConnectorError(error, "store_full")) onFull();
        throw error;
      }
    },
    read: (work) => store.read(work),
  };
}
