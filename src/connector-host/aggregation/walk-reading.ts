/** One time that a walk asks its route. */
export class WalkReading<Listing> {
  resolve: (listing: Listing) => void = ignore;
  reject: (error: unknown) => void = ignore;
  /** Somebody waited for it as long as a list may. */
  isLate = false;
  /** What the first of the walk's readings brings, or why this one failed. */
  readonly listing = new Promise<Listing>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

function ignore(): void {}
