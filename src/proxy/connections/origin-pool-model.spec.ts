import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { buildConnector } from 'undici';
import { FakeClock } from '../../../test/support/clock.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { BrokenConnection } from './broken-connection.js';
import { OriginPool } from './origin-pool.js';
import type { ProviderConnection } from './provider-connection.js';

const MAX_CONNECTIONS = 3;
const IDLE_MS = 15_000;
const MAX_AGE_MS = 5 * 60_000;
const RACE_MS = 100;
const SIZED_HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n';
const REQUEST = { method: 'POST', path: '/', headers: [], body: undefined, ttfbTimeoutMs: 0 };

/** A socket whose other end is the test. */
class FakeSocket extends Duplex {
  constructor() {
    super({ allowHalfOpen: false });
  }

  override _read(): void {}

  override _write(_bytes: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
}

/**
 * Where a connection is: acquired without a call, with one, returned in this turn of the event loop, returned earlier,
 * or forgotten by its pool.
 */
type Place = 'held' | 'calling' | 'ended' | 'idle' | 'forgotten';

/** The state of a connection in the model. */
class Modelled {
  place: Place = 'held';
  isClosed = false;
  isReused = false;
  socket: FakeSocket | undefined;
  /** The received part of the answer to its call. */
  arrived: 'nothing' | 'interim' | 'half' | 'open_body' = 'nothing';
  /** The number of its last call. */
  call = 0;
  sentMs = 0;
  idleUntilMs = Number.POSITIVE_INFINITY;
  /** The expected and the actual events of its calls. */
  readonly expected: string[] = [];
  readonly told: string[] = [];

  constructor(
    readonly real: ProviderConnection,
    readonly bornMs: number,
  ) {}
}

type Dial = Parameters<buildConnector.connector>[1];

/** A pool, and its expected behaviour, step by step. */
class PoolModel {
  readonly clock = new FakeClock();
  readonly all: Modelled[] = [];
  /** Free connections, in the order in which they became free. */
  idle: Modelled[] = [];
  ended: Modelled[] = [];
  readonly dials: { readonly connection: Modelled; readonly done: Dial }[] = [];
  readonly pool;
  #total = 0;
  #dialling: Modelled | undefined;
  #calls = 0;

  constructor() {
    const bounds = { maxConnections: MAX_CONNECTIONS, silenceTimeoutMs: 0 };
    const connect: buildConnector.connector = (_options, done) => {
      if (this.#dialling !== undefined) this.dials.push({ connection: this.#dialling, done });
    };
    this.pool = new OriginPool('http://provider.example', bounds, connect, this.clock);
  }

  in(...places: readonly Place[]): Modelled[] {
    return this.all.filter(({ place }) => places.includes(place));
  }

  /** Connections with a socket that is open. */
  open(...places: readonly Place[]): Modelled[] {
    return this.in(...places).filter(({ socket, isClosed }) => socket !== undefined && !isClosed);
  }

  acquire(): void {
    const real = this.pool.acquire();
    for (let top = this.idle.pop(); top !== undefined; top = this.idle.pop()) {
      if (this.#isReusable(top)) {
        expect(real).toBe(top.real);
        Object.assign(top, { place: 'held', isReused: true });
        return;
      }
      this.forget(top);
    }
    if (this.#total === MAX_CONNECTIONS && this.ended.length > 0) this.forget(this.ended.pop());
    this.#created(real);
  }

  acquireNew(): void {
    this.#created(this.pool.acquireNew());
  }

  renew(closed: Modelled): void {
    this.forget(closed);
    this.#created(this.pool.renew(closed.real));
  }

  send(connection: Modelled): void {
    const call = ++this.#calls;
    connection.call = call;
    this.#dialling = connection.socket === undefined && !connection.isClosed ? connection : undefined;
    const tell = (what: string) => void connection.told.push(`${call} ${what}`);
    const { isClosed } = connection;
    Object.assign(connection, { place: 'calling', arrived: 'nothing', sentMs: this.clock.monotonicMs() });
    connection.real.send(REQUEST, {
      onSend: () => undefined,
      onHead: ({ status }) => tell(`head ${status}`),
      onBytes: (bytes) => tell(bytes.toString('latin1')),
      onEnd: () => tell('end'),
      onFailure: (error) => tell(failureOf(error)),
    });
    if (isClosed) this.fail(connection, 'closed');
  }

  /** The call of a connection gets an answer and ends. */
  answered(connection: Modelled, ...told: readonly string[]): void {
    this.expectTold(connection, ...told, 'end');
    if (connection.isClosed) this.forget(connection);
    else {
      connection.idleUntilMs = this.clock.monotonicMs() + IDLE_MS;
      this.returned(connection);
    }
  }

  /** A connection is closed, and its call fails. */
  fail(connection: Modelled, failure: string): void {
    connection.isClosed = true;
    if (connection.place !== 'calling') return;
    this.expectTold(connection, failure);
    this.forget(connection);
  }

  returned(connection: Modelled): void {
    connection.place = 'ended';
    this.ended.push(connection);
  }

  forget(connection: Modelled | undefined): void {
    if (connection === undefined) return;
    Object.assign(connection, { place: 'forgotten', isClosed: true });
    this.#total--;
  }

  expectTold(connection: Modelled, ...told: readonly string[]): void {
    connection.expected.push(...told.map((what) => `${connection.call} ${what}`));
  }

  trim(): void {
    this.pool.trim();
    const idle = this.idle;
    this.idle = idle.filter((connection) => this.#isReusable(connection));
    for (const connection of idle) if (!this.idle.includes(connection)) this.forget(connection);
  }

  turned(): void {
    for (const connection of this.ended) connection.place = 'idle';
    this.idle.push(...this.ended);
    this.ended = [];
  }

  /** Compares everything observable from outside. */
  check(): void {
    const seen = this.all.map(({ real: { isOpen, isClosed, isBusy }, told }) =>
      shown({ isOpen, isClosed, isBusy, told }),
    );
    const expected = this.all.map(({ socket, isClosed, place, expected: told }) =>
      shown({ isOpen: socket !== undefined && !isClosed, isClosed, isBusy: place === 'calling', told }),
    );
    const [busy, isEmpty] = [this.in('held', 'calling').length, this.#total === 0];
    expect([shown(this.pool), ...seen].join('\n')).toBe([shown({ busy, isEmpty }), ...expected].join('\n'));
    expect(this.all.filter(({ isClosed, socket }) => isClosed && socket?.destroyed === false)).toEqual([]);
    expect(this.#total).toBeLessThanOrEqual(MAX_CONNECTIONS);
  }

  #created(real: ProviderConnection | undefined): void {
    expect(real === undefined).toBe(this.#total === MAX_CONNECTIONS);
    if (real === undefined) return;
    expect(this.all.map((connection) => connection.real)).not.toContain(real);
    this.#total++;
    this.all.push(new Modelled(real, this.clock.monotonicMs()));
  }

  #isReusable({ isClosed, idleUntilMs, bornMs }: Modelled): boolean {
    return !isClosed && this.clock.monotonicMs() < Math.min(idleUntilMs, bornMs + MAX_AGE_MS);
  }
}

type Seen = Pick<OriginPool, 'busy' | 'isEmpty'> | Record<'isOpen' | 'isClosed' | 'isBusy' | 'told', unknown>;

/** One line with the observable state of a pool or a connection. */
function shown(seen: Seen): string {
  return 'told' in seen ? JSON.stringify(seen) : `busy ${seen.busy}, empty ${seen.isEmpty}`;
}

function failureOf(error: Error): string {
  if (!(error instanceof BrokenConnection)) return `${systemErrorCode(error) ?? error.message}`;
  return error.isKeepAliveRace ? 'race' : error.code;
}

/** How a call fails if the provider closes its connection with this error. */
function closedByPeer(model: PoolModel, connection: Modelled, failure: string): string {
  const isSoon = model.clock.monotonicMs() - connection.sentMs <= RACE_MS;
  return connection.isReused && connection.arrived === 'nothing' && isSoon ? 'race' : failure;
}

/** A step on one of the connections that allow it; `at` chooses which. */
interface ConnectionStep {
  readonly allowed: (model: PoolModel) => readonly Modelled[];
  readonly take: (model: PoolModel, connection: Modelled) => void;
}

const answering = (model: PoolModel) => model.open('calling');
const fresh = (model: PoolModel) =>
  answering(model).filter(({ arrived }) => arrived === 'nothing' || arrived === 'interim');
const arrive = ({ socket }: Modelled, text: string) => void socket?.emit('data', Buffer.from(text, 'latin1'));
const busy = expect.objectContaining({ message: 'the connection is not free for this call' });

const CONNECTION_STEPS: Readonly<Record<string, ConnectionStep>> = {
  send: { allowed: (model) => model.in('held'), take: (model, connection) => model.send(connection) },
  sendOnOthers: {
    allowed: (model) => model.in('calling', 'ended', 'idle', 'forgotten'),
    take: (_model, { real }) => {
      const events = {
        onSend: () => undefined,
        onHead: () => undefined,
        onBytes: () => undefined,
        onEnd: () => undefined,
      };
      expect(() => real.send(REQUEST, { ...events, onFailure: () => undefined })).toThrow(busy);
    },
  },
  interimHead: {
    allowed: fresh,
    take: (model, connection) => {
      arrive(connection, 'HTTP/1.1 100 Continue\r\n\r\n');
      connection.arrived = 'interim';
      model.expectTold(connection, 'head 100');
    },
  },
  wholeAnswer: {
    allowed: fresh,
    take: (model, connection) => {
      arrive(connection, `${SIZED_HEAD}body`);
      model.answered(connection, 'head 200', 'body');
    },
  },
  lastAnswer: {
    allowed: fresh,
    take: (model, connection) => {
      arrive(connection, 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
      connection.isClosed = true;
      model.answered(connection, 'head 204');
    },
  },
  answerAndMore: {
    allowed: fresh,
    take: (model, connection) => {
      arrive(connection, `${SIZED_HEAD}body${SIZED_HEAD}more`);
      model.answered(connection, 'head 200', 'body');
      connection.isClosed = true;
    },
  },
  firstHalf: {
    allowed: fresh,
    take: (model, connection) => {
      arrive(connection, `${SIZED_HEAD}bo`);
      connection.arrived = 'half';
      model.expectTold(connection, 'head 200', 'bo');
    },
  },
  secondHalf: {
    allowed: (model) => answering(model).filter(({ arrived }) => arrived === 'half'),
    take: (model, connection) => {
      arrive(connection, 'dy');
      model.answered(connection, 'dy');
    },
  },
  openBody: {
    allowed: fresh,
    take: (model, connection) => {
      arrive(connection, 'HTTP/1.1 200 OK\r\n\r\nopen');
      connection.arrived = 'open_body';
      model.expectTold(connection, 'head 200', 'open');
    },
  },
  noAnswer: {
    allowed: fresh,
    take: (model, connection) => {
      arrive(connection, 'HTTP/1.1 200 OK\nno answer\r\n\r\n');
      model.fail(connection, 'invalid_answer');
    },
  },
  /** Bytes for which there is no request. */
  stray: {
    allowed: (model) => model.open('held', 'ended', 'idle'),
    take: (_model, connection) => {
      arrive(connection, `${SIZED_HEAD}more`);
      connection.isClosed = true;
    },
  },
  peerEnds: {
    allowed: (model) => model.open('held', 'calling', 'ended', 'idle'),
    take: (model, connection) => {
      connection.socket?.push(null);
      if (connection.place === 'calling' && connection.arrived === 'open_body') {
        connection.isClosed = true;
        model.answered(connection);
      } else model.fail(connection, closedByPeer(model, connection, 'closed'));
    },
  },
  peerResets: {
    allowed: (model) => model.open('held', 'calling', 'ended', 'idle'),
    take: (model, connection) => {
      connection.socket?.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
      model.fail(connection, closedByPeer(model, connection, 'ECONNRESET'));
    },
  },
  release: {
    allowed: (model) => model.in('held', 'calling'),
    take: (model, connection) => {
      connection.real.release();
      if (connection.place === 'calling') model.fail(connection, 'closed');
      else if (connection.isClosed || connection.socket === undefined) model.forget(connection);
      else model.returned(connection);
    },
  },
  releaseAgain: {
    allowed: (model) => model.in('ended', 'idle', 'forgotten'),
    take: (_model, { real }) => real.release(),
  },
  abort: {
    allowed: (model) => model.in('held', 'calling'),
    take: (model, connection) => {
      connection.real.abort(new Error('aborted'));
      model.fail(connection, 'aborted');
    },
  },
  renew: {
    allowed: (model) => model.in('held').filter(({ isClosed }) => isClosed),
    take: (model, connection) => model.renew(connection),
  },
};

const POOL_STEPS: Readonly<Record<string, (model: PoolModel) => Promise<void> | void>> = {
  acquire: (model) => model.acquire(),
  acquireNew: (model) => model.acquireNew(),
  trim: (model) => model.trim(),
  turn: async (model) => {
    await nextTurn();
    model.turned();
  },
  aWhile: (model) => model.clock.advance(RACE_MS + 1),
  idleTime: (model) => model.clock.advance(IDLE_MS - 1),
  longest: (model) => model.clock.advance(MAX_AGE_MS / 2),
  dialled: (model) => {
    const dial = model.dials.shift();
    if (dial === undefined) return;
    const socket = new FakeSocket();
    // A connection uses only features of its socket that all streams have.
    dial.done(null, socket as unknown as Extract<Parameters<Dial>, [null, unknown]>[1]);
    if (dial.connection.isClosed) expect(socket.destroyed).toBe(true);
    else dial.connection.socket = socket;
  },
  unreachable: (model) => {
    const dial = model.dials.shift();
    if (dial === undefined) return;
    dial.done(new Error('unreachable'), null);
    if (dial.connection.place === 'calling') model.fail(dial.connection, 'unreachable');
  },
};

/** How often each step was taken. */
const taken = new Map<string, number>();

class Step implements fc.AsyncCommand<PoolModel, PoolModel> {
  constructor(
    private readonly name: string,
    private readonly at: number,
  ) {}

  check(model: Readonly<PoolModel>): boolean {
    const step = CONNECTION_STEPS[this.name];
    return step === undefined || step.allowed(model as PoolModel).length > 0;
  }

  async run(model: PoolModel): Promise<void> {
    taken.set(this.name, (taken.get(this.name) ?? 0) + 1);
    const step = CONNECTION_STEPS[this.name];
    const allowed = step?.allowed(model) ?? [];
    const connection = allowed[this.at % allowed.length];
    if (step !== undefined && connection !== undefined) step.take(model, connection);
    else await POOL_STEPS[this.name]?.(model);
    await socketsClosed();
    model.check();
  }

  toString(): string {
    return CONNECTION_STEPS[this.name] === undefined ? this.name : `${this.name}(${this.at})`;
  }
}

/** Waits for the events of sockets, without a turn of the event loop. */
async function socketsClosed(): Promise<void> {
  for (let ticks = 0; ticks < 4; ticks++) await new Promise<void>((done) => process.nextTick(done));
}

const steps = Object.entries({ ...CONNECTION_STEPS, ...POOL_STEPS }).map(([name]) =>
  fc.nat(MAX_CONNECTIONS - 1).map((at) => new Step(name, at)),
);
/** The first steps of every call, so that most of them reach an answer. */
const common = ['acquire', 'send', 'dialled', 'wholeAnswer', 'secondHalf', 'turn'].flatMap((name) =>
  Array.from({ length: 8 }, () => fc.nat(MAX_CONNECTIONS - 1).map((at) => new Step(name, at))),
);

it('any sequence of steps → a connection is reused only if it is open, recent, idle and without unread bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands([...steps, ...common], { maxCommands: 80, size: 'max' }), async (commands) => {
      await fc.asyncModelRun(() => {
        const model = new PoolModel();
        return { model, real: model };
      }, commands);
    }),
    { numRuns: fuzzRuns(300) },
  );
});

afterAll(() => {
  const untaken = [...Object.keys(CONNECTION_STEPS), ...Object.keys(POOL_STEPS)].filter((name) => !taken.has(name));
  expect(untaken).toEqual([]);
});
