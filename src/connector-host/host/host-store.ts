import type { ProjectionTx } from "../../auth-projection/index.js";
import type { DocumentTx } from "../documents/index.js";
import type { ConvergenceTx, UnitOfWork } from "../../reconcile/index.js";

/** A transaction over everything that the host keeps. */
export interface HostTx extends ConvergenceTx, ProjectionTx, DocumentTx {}

/** Where the host keeps it. It belongs to the host, which closes it. */
export interface HostStore extends UnitOfWork<HostTx> {
  close(): Promise<void>;
}
