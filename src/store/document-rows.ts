import type { DocumentRow, DocumentRows } from "../connector-host/documents/index.js";
import { ColumnReader, integerColumn, textColumn } from "./columns.js";
import { inCodeUnits, type ColumnRow, type RowTable, type TableSpec } from "./row-table.js";
import type { Transaction } from "./transaction.js";

/** Where documents are kept. */
export const DOCUMENT_TABLE: TableSpec = {
  name: "document",
  keyLength: 2,
  columns: ["kind", "key", "text", "updated_at"],
};

/** The documents of one transaction. */
export function documentRows(table: RowTable, transaction: Transaction): DocumentRows {
  return {
    async get(kind, key) {
      transaction.assertOpen();
      const row = table.get(textColumn(kind), textColumn(key));
      return row && decode(row);
    },
    async list(kind) {
      transaction.assertOpen();
      return inCodeUnits(table.list(textColumn(kind)).map(decode), (row) => row.key);
    },
    async put(row) {
      transaction.assertWritable();
      table.put(encode(row));
    },
    async remove(kind, key) {
      transaction.assertWritable();
      table.remove(textColumn(kind), textColumn(key));
    },
  };
}

function encode({ kind, key, text, updatedAt }: DocumentRow): ColumnRow {
  return [textColumn(kind), textColumn(key), textColumn(text), integerColumn("updatedAt", updatedAt)];
}

function decode(columns: ColumnRow): DocumentRow {
  const read = new ColumnReader(DOCUMENT_TABLE.name, columns);
  return { kind: read.text(), key: read.text(), text: read.text(), updatedAt: read.integer() };
}
