import { type AnswerFailure, hasContent, hasContentByType, isFailedType, isFailure } from './answer-failure.rules.js';
import type { WindowView } from './byte-window.js';
import { documentsOfEvent } from './usage-documents.rules.js';

const ERROR = Buffer.from('error');
const FAILED_STATES = [Buffer.from('"response.failed"'), Buffer.from('"failed"')];
const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const LETTER_N = 0x6e;
/**
 * Events without known content that are parsed; one more is treated as content, so that no stream is parsed as a whole.
 */
const MAX_PARSED_EVENTS = 16;
/** Longer events are classified by their type alone; they have content. */
const MAX_PARSED_BYTES = 16 * 1024;
const TYPE_BYTES = 256;
const LEADING_TYPE = /^data: ?\s*\{\s*"(?:event_)?type"\s*:\s*"([\w.]{1,64})"/m;
const ERROR_NAME = /^event: ?error\r?$/m;

/**
 * Finds out whether a stream with a successful status reports an error, and whether content came before it. Events are
 * parsed until the first content, and where they hold an error.
 */
export class StreamedFailure {
  #hasContent = false;
  #parsedEvents = 0;
  #failure: AnswerFailure | undefined;

  get failure(): AnswerFailure | undefined {
    return this.#failure;
  }

  /** Whether the bytes need inspection: before the first content, and where they may hold an error. */
  isMarked(bytes: Buffer): boolean {
    return this.#failure === undefined && (!this.#hasContent || hasErrorMark(bytes));
  }

  /** Inspects one event. */
  note(event: WindowView): void {
    if (!this.isMarked(event.head)) return;
    const start = event.head.toString('latin1', 0, TYPE_BYTES);
    const type = LEADING_TYPE.exec(start)?.[1] ?? '';
    const known = hasContentByType(type);
    if (isFailedType(type) || ERROR_NAME.test(start)) this.#fail();
    else if (known === true) this.#hasContent = true;
    else if (event.tail !== undefined || event.head.length > MAX_PARSED_BYTES) {
      this.#hasContent ||= known === undefined;
    } else this.#inspect(event, known === undefined);
  }

  #inspect(event: WindowView, isUndecided: boolean): void {
    for (const document of documentsOfEvent(event)) {
      if (isUndecided) this.#parsedEvents += 1;
      this.#hasContent ||= hasContent(document) || this.#parsedEvents > MAX_PARSED_EVENTS;
      if (isFailure(document)) this.#fail();
    }
  }

  #fail(): void {
    this.#failure ??= this.#hasContent ? 'after_content' : 'before_content';
  }
}

/**
 * Whether bytes hold a failed response or status, `"error"` as a value or as a member that is not null, or name an
 * event so.
 */
function hasErrorMark(bytes: Buffer): boolean {
  if (FAILED_STATES.some((state) => bytes.includes(state))) return true;
  for (let at = bytes.indexOf(ERROR); at !== -1; at = bytes.indexOf(ERROR, at + ERROR.length)) {
    const [before, after] = [bytes[at - 1], bytes[at + ERROR.length]];
    if (before === QUOTE && after === QUOTE && !isNull(bytes, at + ERROR.length + 1)) return true;
    if ((before === SPACE || before === COLON) && (after === LINE_FEED || after === CARRIAGE_RETURN)) return true;
  }
  return false;
}

function isNull(bytes: Buffer, from: number): boolean {
  let at = from;
  while (bytes[at] === SPACE) at += 1;
  if (bytes[at] !== COLON) return false;
  at += 1;
  while (bytes[at] === SPACE) at += 1;
  return bytes[at] === LETTER_N;
}
