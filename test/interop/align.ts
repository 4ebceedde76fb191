/** Pads the words of each column to the width of its longest. */
export function align(lines: readonly (readonly string[])[]): readonly string[] {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((word, column) => word.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
