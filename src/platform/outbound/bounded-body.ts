/**
 * Reads a body to its end, as long as it stays within a bound.
 *
 * @param maxBytes the largest body accepted.
 * @returns the bytes, or `undefined` when there are more; the stream, and with it the connection, is then destroyed.
 */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
