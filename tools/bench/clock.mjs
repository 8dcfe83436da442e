/** The monotonic clock that all processes of one machine share, and how a moment travels inside a streamed chunk. */

const STAMP_DIGITS = 20;
const AT = 0x40;

/** Milliseconds of the machine's monotonic clock, with microsecond resolution; comparable between processes. */
export function nowMs() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** `@` and 20 characters of milliseconds. The JSON around it holds no other `@`. */
export function stamp(atMs) {
  return `@${atMs.toFixed(6).padStart(STAMP_DIGITS, '0')}`;
}

/** Finds the stamps of one stream, however its bytes were split. */
export class StampReader {
  #tail = null;

  /** Calls `onStamp(sentMs)` for each complete stamp of `bytes`, keeping an incomplete one for the next call. */
  read(bytes, onStamp) {
    const all = this.#tail ? Buffer.concat([this.#tail, bytes]) : bytes;
    this.#tail = null;
    let at = all.indexOf(AT);
    while (at !== -1) {
      const end = at + 1 + STAMP_DIGITS;
      if (end > all.length) {
        this.#tail = Buffer.from(all.subarray(at));
        return;
      }
      onStamp(Number(all.latin1Slice(at + 1, end)));
      at = all.indexOf(AT, end);
    }
  }
}
