/**
 * Repeats a bounded piece of work until nothing is left.
 *
 * @param piece returns the amount processed; 0 ends the loop.
 * @param signal stops between two pieces.
 * @returns the total amount.
 */
export async function repeatUntilDone(piece: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const done = await piece();
    if (done === 0) break;
    total += done;
  }
  return total;
}
