/** Something to wait for until a test opens it. Opening it twice is opening it once. */
export class Gate {
  #open: (() => void) | undefined;
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.#open = resolve;
  });

  open(): void {
    this.#open?.();
  }
}
