/** The connection to a provider is unusable; its call has no complete answer. */
export class BrokenConnection extends Error {
  /**
   * @param code for records, logs and tests.
   * @param isKeepAliveRace the provider closed a connection that it had kept open, as the request was sent.
   */
  constructor(
    readonly code: 'closed' | 'timeout' | 'silent' | 'invalid_answer' | 'head_too_large' | 'invalid_request',
    message: string,
    readonly isKeepAliveRace = false,
  ) {
    super(message);
    this.name = 'BrokenConnection';
  }
}
