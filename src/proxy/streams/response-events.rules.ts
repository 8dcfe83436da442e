const END_OF_EVENT = /\r\n\r\n|\n\n|\r\r/g;
const SEQUENCE_NUMBER = /"sequence_number"\s*:\s*(\d{1,15})/;
const RESPONSE_ID = /"id"\s*:\s*"(resp_[\w-]{1,128})"/;
const RESPONSE_PATH = /^v1\/responses\/(resp_[\w-]{1,128})$/;
const WHOLE_NUMBER = /^\d{1,15}$/;

/** A request to resume the stream of a response. */
export interface ResumedResponse {
  readonly responseId: string;
  /** Only events with a larger `sequence_number` are wanted; -1: all. */
  readonly startingAfter: number;
}

/**
 * Reads `GET v1/responses/{id}?stream=true&starting_after=N` of the Responses API.
 *
 * @param path, query below the provider, as sent.
 * @returns undefined for any other request.
 */
export function resumedResponseOf(path: string, query: string): ResumedResponse | undefined {
  const responseId = RESPONSE_PATH.exec(path)?.[1];
  const parameters = new URLSearchParams(query);
  if (responseId === undefined || parameters.get('stream') !== 'true') return undefined;
  const after = parameters.get('starting_after');
  return { responseId, startingAfter: after !== null && WHOLE_NUMBER.test(after) ? Number(after) : -1 };
}

/** The id of a response in the start of its stream. */
export function responseIdIn(start: Buffer): string | undefined {
  return RESPONSE_ID.exec(start.toString('latin1'))?.[1];
}

/** Reads the bytes of a stream in order, and returns its complete events after a sequence number. */
export class EventsAfter {
  #rest = '';

  constructor(private readonly startingAfter: number) {}

  /** @returns undefined where no wanted event is complete. */
  take(bytes: Buffer): Buffer | undefined {
    // Every byte is one character, so that the events are unchanged.
    const text = this.#rest + bytes.toString('latin1');
    let [from, wanted] = [0, ''];
    for (const { index, 0: end } of text.matchAll(END_OF_EVENT)) {
      const event = text.slice(from, index + end.length);
      from = index + end.length;
      if (Number(SEQUENCE_NUMBER.exec(event)?.[1] ?? -1) > this.startingAfter) wanted += event;
    }
    this.#rest = text.slice(from);
    return wanted === '' ? undefined : Buffer.from(wanted, 'latin1');
  }
}
