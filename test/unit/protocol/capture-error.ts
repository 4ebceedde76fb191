/** What `act` throws; a test that expects an error fails when there is none. */
export function captureError(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
