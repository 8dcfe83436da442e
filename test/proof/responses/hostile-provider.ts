import { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import type { Chance } from '../../support/chance.js';
import { type Delivery, strayAnswer } from './hostile-responses.js';
import { askersIn, NOBODY } from './nonces.js';
import { type Answerable, RequestLog } from './request-log.js';

/** What every read of a socket is a view of, as with the sockets of the service. */
const MEMORY = Buffer.alloc(128 * 1024);

/** One connection, from the side of the provider. Bytes arrive in the turn in which they are delivered. */
class HostileSocket extends Duplex {
  readonly #log = new RequestLog();
  #due: (Delivery & { readonly call?: Answerable })[] = [];
  #text = '';

  constructor(private readonly provider: HostileProvider) {
    super({ allowHalfOpen: false });
    this.on('error', () => undefined);
    const { chance, account, turn } = provider;
    const early = () => ({ turn: turn + chance.below(3), sent: strayAnswer({ account, number: NOBODY }) });
    if (chance.is(0.01)) this.#due.push(early());
  }

  /** Whether something is to arrive. */
  get isDue(): boolean {
    return this.#due.length > 0 && !this.destroyed;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: unknown, done: () => void): void {
    this.#text += bytes.toString('latin1');
    if (this.#text.endsWith('\r\n\r\n')) this.#receive(this.#text);
    done();
  }

  /** Lets arrive what is due, unless the reader has paused. */
  deliver(): void {
    const later = [];
    for (const due of this.#due) {
      if (this.destroyed || this.#log.isEnded) return;
      if (due.turn > this.provider.turn || this.isPaused()) later.push(due);
      else this.#arrive(due);
    }
    this.#due = later;
  }

  #receive(text: string): void {
    this.#text = '';
    const call = this.provider.calls.find(askersIn(text), this.provider.account);
    if (call === undefined) {
      this.destroy();
      return;
    }
    this.#log.begin(call);
    const now = this.provider.turn + 1;
    this.#due.push(...call.response.deliveries.map(({ turn, sent }) => ({ turn: now + turn, sent, call })));
  }

  #arrive({ sent, call }: Delivery & { readonly call?: Answerable }): void {
    if (Buffer.isBuffer(sent)) this.#arriveBytes(sent);
    else if (sent === 'reset') this.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    else if (sent === 'end' || (call === this.#log.last && call?.isOver === false)) {
      this.#log.note('end');
      this.push(null);
    }
  }

  #arriveBytes(sent: Buffer): void {
    if (this.#log.last?.isOver !== false) this.provider.idleBytes++;
    this.#log.note(sent);
    sent.copy(MEMORY);
    this.emit('data', MEMORY.subarray(0, sent.length));
    MEMORY.fill('#', 0, sent.length);
  }
}

/** The calls that may arrive at a provider. */
export class ExpectedCalls {
  readonly problems: string[] = [];
  readonly #calls = new Map<number, Answerable>();

  add(call: Answerable): void {
    this.#calls.set(call.asker.number, call);
  }

  remove({ asker }: Answerable): void {
    this.#calls.delete(asker.number);
  }

  /**
   * The call of a request.
   *
   * @param askers whose nonces are in the request.
   * @param account of the connection.
   */
  find(askers: ReturnType<typeof askersIn>, account: number | undefined): Answerable | undefined {
    const call = this.#calls.get(askers[0]?.number ?? NOBODY);
    const isForeign = account !== undefined && askers[0]?.account !== account;
    if (askers.length === 1 && !isForeign && call !== undefined && call.log === undefined) return call;
    this.problems.push(`request of ${JSON.stringify(askers)} on a connection of account ${account}`);
    return undefined;
  }
}

/** What the connections of one account have in common. */
export class HostileProvider {
  turn = 0;
  /** Pieces that arrived on a connection without a call. */
  idleBytes = 0;
  readonly calls = new ExpectedCalls();
  #sockets: HostileSocket[] = [];
  #dials: { readonly turn: number; readonly done: () => void }[] = [];

  constructor(
    readonly account: number,
    readonly chance: Chance,
  ) {}

  /** For the pool. Some connections fail, and some take a few turns. */
  readonly connect: buildConnector.connector = (_options, callback) => {
    const { chance } = this;
    const isRefused = chance.is(0.005);
    const done = () => {
      if (isRefused) callback(new Error('unreachable'), null);
      else callback(null, this.#socket());
    };
    this.#dials.push({ turn: this.turn + chance.below(3), done });
  };

  /** What may happen in this turn, each to be run in any order. */
  work(): (() => void)[] {
    const ready = this.#dials.filter(({ turn }) => turn <= this.turn);
    this.#dials = this.#dials.filter(({ turn }) => turn > this.turn);
    this.#sockets = this.#sockets.filter(({ destroyed }) => !destroyed);
    const busy = this.#sockets.filter(({ isDue }) => isDue);
    return [...ready.map(({ done }) => done), ...busy.map((socket) => () => socket.deliver())];
  }

  #socket() {
    const socket = new HostileSocket(this);
    this.#sockets.push(socket);
    // A connection uses nothing of its socket that other streams lack.
    return socket as unknown as Extract<Parameters<buildConnector.Callback>, [null, unknown]>[1];
  }
}
