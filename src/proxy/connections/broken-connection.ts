/** The connection to a provider is unusable; its call has no complete answer. */
export class BrokenConnection extends Error {
  /** @param code for records, logs and tests. */
  constructor(
    readonly code: 'closed' | 'timeout' | 'silent' | 'invalid_answer' | 'head_too_large' | 'invalid_request',
    message: string,
  ) {
    super(message);
    this.name = 'BrokenConnection';
  }
}
