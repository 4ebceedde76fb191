/** A text that is kept under a kind and a key. */
export interface DocumentRow {
  /** Says whose it is, and what form its text has. */
  readonly kind: string;
  readonly key: string;
  /** JSON in a form of the kind's own. Opaque to the store. */
  readonly text: string;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** The documents of one transaction. Key: (kind, key). */
export interface DocumentRows {
  get(kind: string, key: string): Promise<DocumentRow | undefined>;
  /** All documents of a kind, ordered by key in code units. */
  list(kind: string): Promise<readonly DocumentRow[]>;
  /** Inserts or replaces. */
  put(row: DocumentRow): Promise<void>;
  /** Removes the document if it is there. */
  remove(kind: string, key: string): Promise<void>;
}

/** What a transaction must offer to owners of documents. A store's own transaction offers more. */
export interface DocumentTx {
  readonly documents: DocumentRows;
}
