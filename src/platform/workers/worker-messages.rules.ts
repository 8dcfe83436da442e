/** What a worker and the process that started it say to each other. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly banner: string }
  | { readonly kind: 'stop'; readonly signal: string };

/** Reads a message; `undefined` for what others send on the same channel. */
export function parseWorkerMessage(message: unknown): WorkerMessage | undefined {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return undefined;
  if (message.kind === 'ready' && 'banner' in message) return { kind: 'ready', banner: String(message.banner) };
  if (message.kind === 'stop' && 'signal' in message) return { kind: 'stop', signal: String(message.signal) };
  return undefined;
}
