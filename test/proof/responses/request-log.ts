import type { HostileResponse } from './hostile-responses.js';
import type { Asker } from './nonces.js';

/** What a provider needs to know of a call. */
export interface Answerable {
  readonly asker: Asker;
  readonly response: HostileResponse;
  /** Whether it has ended. */
  readonly isOver: boolean;
  /** Of the connection on which its request was written. */
  log: RequestLog | undefined;
}

/** What has come from a provider since a request, until the next one. */
export interface Evidence {
  readonly pieces: readonly Buffer[];
  readonly isEnded: boolean;
}

/** The requests of one connection, and what has come from the provider, in their order. */
export class RequestLog {
  readonly #requests: { readonly call: Answerable; readonly from: number }[] = [];
  readonly #sent: (Buffer | 'end')[] = [];

  /** The last request. */
  get last(): Answerable | undefined {
    return this.#requests.at(-1)?.call;
  }

  get isEnded(): boolean {
    return this.#sent.at(-1) === 'end';
  }

  begin(call: Answerable): void {
    this.#requests.push({ call, from: this.#sent.length });
    call.log = this;
  }

  note(sent: Buffer | 'end'): void {
    this.#sent.push(sent);
  }

  /** @param early how many of the last pieces before the request are taken for later ones. */
  evidenceOf(call: Answerable, early = 0): Evidence {
    const at = this.#requests.findIndex((request) => request.call === call);
    const from = this.#requests[at]?.from ?? 0;
    const sent = this.#sent.slice(from - early, this.#requests[at + 1]?.from);
    return { pieces: sent.filter((piece) => piece !== 'end'), isEnded: sent.includes('end') };
  }

  /** How many pieces came between the request before and this one. */
  piecesBefore(call: Answerable): number {
    const at = this.#requests.findIndex((request) => request.call === call);
    return (this.#requests[at]?.from ?? 0) - (this.#requests[at - 1]?.from ?? 0);
  }

  isFirst(call: Answerable): boolean {
    return this.#requests[0]?.call === call;
  }

  /** Whether this request came before that call. */
  had(number: number, before: Answerable): boolean {
    const numbers = this.#requests.map(({ call }) => call.asker.number);
    return numbers.slice(0, numbers.indexOf(before.asker.number)).includes(number);
  }
}
