/**
 * Markdown as the formatter would have it: every column as wide as its widest cell.
 *
 * @param {string[][]} rows the head first
 * @returns {string}
 */
export function alignedTable([head, ...rows]) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
