/** A path such as `config.endpoints."my slug".fallback.0`, and the problem there. Unusual names are quoted as JSON. */
const FIELD = /^([A-Za-z_][\w-]*(?:\.(?:"(?:[^"\\]|\\.)*"|[\w/@+-]+)|\[\d+\])*): (.+)$/s;
/** Names that the API writes into paths as they are; it quotes and truncates every other one. */
const PLAIN_NAME = /^[\w/@+-]+(?:\.[\w/@+-]+)*$/;
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/g;
const MAX_NAME = 64;

/** A refusal of the API, or a missing response. */
export class ApiError extends Error {
  private constructor(
    /** HTTP status; 0 without a response. */
    readonly status: number,
    /** The error code of the API; `offline` without a response. */
    readonly code: string,
    message: string,
    /** Seconds until a retry makes sense. */
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(message);
    this.name = 'ApiError';
  }

  static offline(): ApiError {
    return new ApiError(0, 'offline', 'The gateway does not answer. Check your connection and try again.', undefined);
  }

  /** @param body of the response, parsed; anything. */
  static of({ status, headers }: Response, body: unknown): ApiError {
    const { error } = Object(body);
    const { code, message } = typeof error === 'object' && error !== null ? error : Object(body);
    const retryAfter = Number(headers.get('retry-after'));
    return new ApiError(
      status,
      typeof code === 'string' ? code : `http_${status}`,
      typeof message === 'string' ? message : `The gateway answered with status ${status}.`,
      retryAfter > 0 ? retryAfter : undefined,
    );
  }

  /** Whether the session has ended, or never was. */
  get isSignedOut(): boolean {
    return this.status === 401;
  }

  /** Whether the same request may succeed later without a change. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** The member that the message is about, as `config.limits.per_user`, and the message without it. */
  get field(): { readonly path: string; readonly problem: string } | undefined {
    const [, path, problem] = FIELD.exec(this.message) ?? [];
    const isAboutMember = this.status === 400 || this.status === 409;
    return isAboutMember && path !== undefined && problem !== undefined ? { path, problem } : undefined;
  }
}

/** The path of a member whose name a person has chosen, in the API's spelling. */
export function memberPath(path: string, name: string): string {
  const isPlain = name.length <= MAX_NAME && PLAIN_NAME.test(name);
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const quoted = () => JSON.stringify(name.slice(0, MAX_NAME)).replace(NOT_PRINTABLE_ASCII, escaped);
  return `${path}.${isPlain ? name : quoted()}`;
}

/** The problem of one field, for the form that has it; undefined where the error is about something else. */
export function problemAt(error: unknown, ...paths: readonly string[]): string | undefined {
  if (!(error instanceof ApiError) || error.field === undefined) return undefined;
  const { path, problem } = error.field;
  const own = paths.find((known) => path === known || path.startsWith(`${known}.`) || path.startsWith(`${known}[`));
  if (own === undefined) return undefined;
  const place = path.slice(own.length);
  return place === '' ? problem : `${placeText(place)}: ${problem}`;
}

/** As {@link problemAt}, for a form that has fields of its own for everything below the path. */
export function problemExactlyAt(error: unknown, path: string): string | undefined {
  return error instanceof ApiError && error.field?.path === path ? error.field.problem : undefined;
}

/** A place within a field: `.3` as `entry 4`, `.m.input` as `m.input`. */
function placeText(place: string): string {
  return place
    .replace(
      /^(?:\.(\d+)|\[(\d+)\])(?=[.[]|$)/,
      (_all, dotted, bracketed) => `entry ${Number(dotted ?? bracketed) + 1}`,
    )
    .replace(/^\./, '');
}

/** A message for any thrown value: the problem, and when or by whom it can be fixed. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const { message, status, retryAfterSeconds } = error;
  if (status === 402) return `${message} The operator of this gateway can change the plan of your organization.`;
  if (!error.isTemporary || retryAfterSeconds === undefined) return message;
  return `${message} Try again in ${retryAfterSeconds} ${retryAfterSeconds === 1 ? 'second' : 'seconds'}.`;
}
