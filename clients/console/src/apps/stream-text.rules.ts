/** The text in one event of a provider's stream; empty if it has none. */
export function textOfEvent(data: string): string {
  const event = parsed(data);
  const places = [['delta'], ['choices', '0', 'delta', 'content'], ['delta', 'text']];
  return places.map((path) => at(event, path)).find((text) => typeof text === 'string') ?? '';
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => Object(inner)[key], value);
}

const END_OF_EVENT = /\r\n\r\n|\n\n|\r\r/g;
/** A comment of the gateway, which is not part of the answer. */
const HEARTBEAT = ': gateway\n\n';
const encoder = new TextEncoder();

/** Splits a stream of server-sent events; keeps incomplete data. */
export class EventSplitter {
  #rest = '';
  #offset = 0;

  /** Bytes of the whole events so far: where a lost connection reads on. */
  get offset(): number {
    return this.#offset;
  }

  /** @returns the data of every event that is complete with this piece. */
  take(piece: string): readonly string[] {
    const text = this.#rest + piece;
    const events: string[] = [];
    let from = 0;
    for (const { index, 0: end } of text.matchAll(END_OF_EVENT)) {
      events.push(text.slice(from, index + end.length));
      from = index + end.length;
    }
    this.#rest = text.slice(from);
    for (const event of events) if (event !== HEARTBEAT) this.#offset += encoder.encode(event).length;
    return events.map(dataOf).filter((data) => data !== '');
  }

  /** Forgets the part of an event: the next piece begins at {@link offset}. */
  restart(): void {
    this.#rest = '';
  }
}

function dataOf(event: string): string {
  return event
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trimStart())
    .join('\n');
}

/** A stage of `Server-Timing`. */
export interface Stage {
  readonly name: string;
  readonly ms: number;
}

/** The stages of a `Server-Timing` header. */
export function stagesOf(header: string | null): readonly Stage[] {
  return (header ?? '')
    .split(',')
    .map((entry) => /^\s*([\w-]+)\s*;.*\bdur=([\d.]+)/.exec(entry))
    .filter((match) => match !== null)
    .map(([, name = '', ms = '0']) => ({ name, ms: Number(ms) }));
}

/** Providers end streams with texts that are not JSON, such as `[DONE]`. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
