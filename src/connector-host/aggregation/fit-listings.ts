/** What one connector brings to a list. */
export interface ListPart {
  readonly connectorKey: string;
  readonly listing: { readonly bytes: number };
}

/** Which parts a list has room for. */
export interface FittedParts<Part extends ListPart> {
  readonly kept: readonly Part[];
  readonly leftOut: readonly Part[];
}

/**
 * Leaves out the largest parts, whole, until the rest fits into `maxBytes`: one connector with a list of unusual size never hides
 * the others. Of parts of one size those with the later keys go first. `kept` is in the order of `parts`. Pure.
 */
export function fitListings<Part extends ListPart>(parts: readonly Part[], maxBytes: number): FittedParts<Part> {
  let bytes = 0;
  for (const { listing } of parts) bytes += listing.bytes;
  if (bytes <= maxBytes) return { kept: parts, leftOut: [] };
  const largestFirst = [...parts].sort(
    (a, b) => b.listing.bytes - a.listing.bytes || (a.connectorKey < b.connectorKey ? 1 : -1),
  );
  const leftOut = new Set<Part>();
  for (const part of largestFirst) {
    if (bytes <= maxBytes) break;
    bytes -= part.listing.bytes;
    leftOut.add(part);
  }
  return { kept: parts.filter((part) => !leftOut.has(part)), leftOut: [...leftOut] };
}
