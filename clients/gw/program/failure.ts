/** Exit codes of `gw`, for scripts. */
export const EXIT = { ok: 0, difference: 1, input: 2, remote: 3, state: 4, timeout: 5, interrupted: 130 } as const;

/** What a failure contains besides its message. */
interface FailureFacts {
  /** What to do about it: a sentence for people. */
  readonly nextAction?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A failed command, as the person or script reads it. */
export class Failure extends Error {
  readonly nextAction: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;

  /** @param code stable, snake case: an error code of the API, or one of `gw` itself. */
  constructor(
    readonly exitCode: number,
    readonly code: string,
    message: string,
    { nextAction, details }: FailureFacts = {},
  ) {
    super(message);
    this.name = 'Failure';
    this.nextAction = nextAction ?? null;
    this.details = details ?? null;
  }

  /** The status of the refusing response; undefined without one. */
  get status(): number | undefined {
    const { status } = Object(this.details);
    return typeof status === 'number' ? status : undefined;
  }

  /** The same failure with advice, if it has none yet. */
  withAdvice(advice: string | null): Failure {
    if (this.nextAction !== null || advice === null) return this;
    return new Failure(this.exitCode, this.code, this.message, {
      nextAction: advice,
      ...(this.details !== null && { details: this.details }),
    });
  }

  /** Invalid arguments or standard input. */
  static input(code: string, message: string, facts?: FailureFacts): Failure {
    return new Failure(EXIT.input, code, message, facts);
  }

  /** There is no usable login. */
  static state(code: string, message: string, facts?: FailureFacts): Failure {
    return new Failure(EXIT.state, code, message, facts);
  }

  /** The deployment cannot be reached, or its response is invalid. */
  static remote(code: string, message: string, facts?: FailureFacts): Failure {
    return new Failure(EXIT.remote, code, message, facts);
  }
}

/** Converts any error to a failure. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (!(error instanceof Error)) return Failure.remote('unexpected_error', String(error));
  if ('syscall' in error) return Failure.input('file_unusable', error.message);
  return Failure.remote('unexpected_error', `${error.message} (${error.name})`, {
    nextAction: 'Run the command again. If it fails again, report it with the version of gw.',
  });
}
