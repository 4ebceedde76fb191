/** Maps with at most `limit` pieces of work under way at once; in the order of `items`. Rejects with the first failure. */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const places = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of places) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
