/** The text in one event of a provider's stream; empty if it has none. */
export function textOfEvent(data: string): string {
  const event = parsed(data);
  const places = [['delta'], ['choices', '0', 'delta', 'content'], ['delta', 'text']];
  return places.map((path) => at(event, path)).find((text) => typeof text === 'string') ?? '';
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => Object(inner)[key], value);
}

/** Splits a stream of server-sent events; keeps incomplete data. */
export class EventSplitter {
  #rest = '';

  /** @returns the data of every event that is complete with this piece. */
  take(piece: string): readonly string[] {
    const blocks = (this.#rest + piece).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop() ?? '';
    return blocks
      .map((block) =>
        block
          .split(/\r?\n/)
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).trimStart())
          .join('\n'),
      )
      .filter((data) => data !== '');
  }
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
