import { setImmediate as nextTurn } from 'node:timers/promises';
import { OriginPool } from '../../../src/proxy/connections/origin-pool.js';
import { SendBatch } from '../../../src/proxy/relay/send-batch.js';
import { TurnBatch } from '../../../src/proxy/turn-batch.js';
import { Chance } from '../../support/chance.js';
import { FakeClock } from '../../support/clock.js';
import { answerProblems, fateProblems, isMistaken, isRefusal } from './answer-rules.js';
import { HostileCall } from './hostile-call.js';
import { HostileProvider } from './hostile-provider.js';
import { hostileResponse } from './hostile-responses.js';
import { nodeAnswer } from './node-answer.js';

const MAX_CONNECTIONS = 4;
/** More than there are connections, so that some calls find none. */
const AT_ONCE = 5;
/** Maximum number of reported failures. */
const MOST_FAILURES = 5;
const MAX_IDLE_MS = 60_000;

/** The statistics of a storm. */
export interface StormReport {
  calls: number;
  /** Answers that the gateway has read. */
  answered: number;
  /** Answers that it has refused by their bytes. */
  refused: number;
  /** Of these, those that Node reads. */
  stricter: number;
  /** Coded answers that it has read. */
  decoded: number;
  /** Requests on a connection that had one before. */
  reused: number;
  /** Pieces that arrived on a connection without a call. */
  idleBytes: number;
  /** Answers to an earlier request of the connection that arrived after the next one was written. */
  mistaken: number;
  readonly failures: string[];
}

/** Two accounts, each with its own instance, call one hostile provider at the same time. */
export class ResponseStorm {
  readonly report: StormReport = {
    calls: 0,
    answered: 0,
    refused: 0,
    stricter: 0,
    decoded: 0,
    reused: 0,
    idleBytes: 0,
    mistaken: 0,
    failures: [],
  };
  readonly #chance: Chance;
  readonly #clock = new FakeClock();
  readonly #sends = new SendBatch();
  readonly #turnBatch = new TurnBatch();
  readonly #accounts;
  readonly #open = new Set<HostileCall>();
  readonly #judging = new Set<Promise<void>>();

  constructor(private readonly options: { readonly responses: number; readonly seed: number }) {
    this.#chance = new Chance(options.seed);
    const bounds = { maxConnections: MAX_CONNECTIONS, silenceTimeoutMs: 0 };
    this.#accounts = [0, 1].map((account) => {
      const provider = new HostileProvider(account, this.#chance);
      return { provider, pool: new OriginPool('http://provider.example', bounds, provider.connect, this.#clock) };
    });
  }

  async run(): Promise<StormReport> {
    while (!this.#isDone) {
      this.#turn();
      await nextTurn();
    }
    await Promise.all(this.#judging);
    if (this.#open.size === 0) this.#checkEnd();
    return this.report;
  }

  get #isDone(): boolean {
    if (this.report.failures.length >= MOST_FAILURES) return true;
    return this.report.calls >= this.options.responses && this.#open.size === 0;
  }

  /** One turn of the event loop: bytes arrive and calls begin, in any order. */
  #turn(): void {
    const chance = this.#chance;
    const work = this.#accounts.flatMap(({ provider, pool }) => {
      provider.turn++;
      return [...provider.work(), ...this.#starts(provider, pool)];
    });
    for (let left = work.length; left > 0; left--) work.splice(chance.below(left), 1)[0]?.();
    for (const call of this.#open) {
      if (call.isSlow && chance.is(0.4)) call.goOn();
      if (chance.is(0.002)) call.leave();
    }
    if (chance.is(0.001)) this.#clock.advance(chance.below(MAX_IDLE_MS));
    if (chance.is(0.01)) for (const { pool } of this.#accounts) pool.trim();
  }

  #starts(provider: HostileProvider, pool: OriginPool): (() => void)[] {
    const count = this.report.calls >= this.options.responses ? 0 : Math.max(AT_ONCE - pool.busy, 0);
    return Array.from({ length: this.#chance.below(count + 1) }, () => () => this.#start(provider, pool));
  }

  #start(provider: HostileProvider, pool: OriginPool): void {
    const connection = pool.acquire();
    if (connection === undefined) return;
    const asker = { account: provider.account, number: ++this.report.calls };
    const response = hostileResponse(asker, this.options.seed + asker.number);
    const over = (ended: HostileCall) => this.#over(provider, ended);
    const call = new HostileCall(asker, response, pool, this.#turnBatch, this.#chance.is(0.02), over);
    this.#open.add(call);
    provider.calls.add(call);
    call.roundTrip.take(connection);
    this.#sends.add(call);
  }

  #over(provider: HostileProvider, call: HostileCall): void {
    this.#open.delete(call);
    provider.calls.remove(call);
    const judging: Promise<void> = this.#judge(call)
      .catch((error: unknown) => this.#fail(call, [String(error)]))
      .finally(() => this.#judging.delete(judging));
    this.#judging.add(judging);
  }

  async #judge(call: HostileCall): Promise<void> {
    const { answer, response, log, isLeft } = call;
    if (log === undefined || isLeft) return;
    const evidence = log.evidenceOf(call);
    const [pieces, isEnded] = answer === undefined ? [[response.bytes], true] : [evidence.pieces, evidence.isEnded];
    const node = await nodeAnswer(response.method, pieces, isEnded, nextTurn);
    this.#count(call, node !== undefined);
    this.#fail(call, [
      ...(answer === undefined ? [] : answerProblems(call, answer, node)),
      ...fateProblems(call, evidence, node),
    ]);
  }

  #count(call: HostileCall, isReadByNode: boolean): void {
    const { report } = this;
    const { answer, failure, response, log } = call;
    if (answer !== undefined) report.answered++;
    if (answer !== undefined && response.coding !== undefined) report.decoded++;
    if (answer !== undefined && isMistaken(call, answer)) report.mistaken++;
    if (isRefusal(failure)) report.refused++;
    if (isRefusal(failure) && isReadByNode) report.stricter++;
    if (log?.isFirst(call) === false) report.reused++;
  }

  /** Every call has returned its connection. */
  #checkEnd(): void {
    this.#clock.advance(MAX_IDLE_MS);
    for (const { provider, pool } of this.#accounts) {
      pool.trim();
      this.report.idleBytes += provider.idleBytes;
      this.report.failures.push(...provider.calls.problems);
      if (!pool.isEmpty) this.report.failures.push(`${pool.busy} connections of account ${provider.account} are lost`);
    }
  }

  #fail(call: HostileCall, problems: readonly string[]): void {
    if (problems.length === 0) return;
    const { asker, response, log } = call;
    const arrived = log?.evidenceOf(call).pieces.map((piece) => piece.toString('latin1'));
    this.report.failures.push(
      [
        `request ${asker.number} of account ${asker.account}, ${response.method}: ${problems.join('; ')}`,
        `oddities: ${response.oddities.map(({ name }) => name).join(', ')}`,
        `arrived: ${JSON.stringify(arrived)}`,
        `sent: ${JSON.stringify(response.bytes.toString('latin1'))}`,
      ].join('\n'),
    );
  }
}
