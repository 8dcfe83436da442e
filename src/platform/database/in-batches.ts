/**
 * Repeats a bounded piece of work until it finds nothing to do.
 *
 * @param piece returns how much it did; 0 ends it.
 * @param signal asks to stop between two pieces.
 * @returns how much all of them did.
 */
export async function inBatches(piece: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const done = await piece();
    if (done === 0) break;
    total += done;
  }
  return total;
}
