import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UpstreamConnections } from '../../../src/proxy/connections/upstream-connections.js';
import { SendBatch } from '../../../src/proxy/relay/send-batch.js';
import { TurnBatch } from '../../../src/proxy/turn-batch.js';
import { Chance } from '../../support/chance.js';
import { answerProblems, isMistaken } from './answer-rules.js';
import { HostileCall } from './hostile-call.js';
import { ExpectedCalls } from './hostile-provider.js';
import { hostileResponse } from './hostile-responses.js';
import { nodeAnswer, type ReadAnswer } from './node-answer.js';
import { askersIn } from './nonces.js';
import { type Answerable, RequestLog } from './request-log.js';

const AT_ONCE = 8;

/** Two accounts, each with its own instance, call one hostile provider over real sockets. */
export class LoopbackStorm {
  readonly report = { calls: 0, answered: 0, reused: 0, mistaken: 0, failures: [] as string[] };
  readonly #chance: Chance;
  readonly #sends = new SendBatch();
  readonly #turnBatch = new TurnBatch();
  readonly #calls = new ExpectedCalls();
  readonly #server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  readonly #sockets = new Set<Socket>();

  constructor(
    private readonly connections: UpstreamConnections,
    private readonly options: { readonly responses: number; readonly seed: number },
  ) {
    this.#chance = new Chance(options.seed);
  }

  async run(): Promise<LoopbackStorm['report']> {
    await new Promise<void>((ready) => this.#server.listen(0, '127.0.0.1', ready));
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, lane) => this.#callOneAfterTheOther(lane % 2)));
    } finally {
      for (const socket of this.#sockets) socket.destroy();
      this.#server.close();
    }
    this.report.failures.push(...this.#calls.problems);
    return this.report;
  }

  async #callOneAfterTheOther(account: number): Promise<void> {
    const origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    while (this.report.calls < this.options.responses && this.report.failures.length === 0) {
      const pool = this.connections.poolFor({ id: `account-${account}`, baseUrl: { origin } });
      const connection = pool.acquire();
      if (connection === undefined) throw new Error('more connections are in use than there are calls');
      const asker = { account, number: ++this.report.calls };
      const response = hostileResponse(asker, this.options.seed - asker.number);
      const call = await new Promise<HostileCall>((over) => {
        const begun = new HostileCall(asker, response, pool, this.#turnBatch, false, over);
        this.#calls.add(begun);
        begun.roundTrip.take(connection);
        this.#sends.add(begun);
      });
      this.#calls.remove(call);
      await this.#judge(call);
      for (let turns = this.#chance.below(4); turns > 0; turns--) await nextTurn();
    }
  }

  /** Later bytes may have arrived before they were read as sent, so what was refused is not judged here. */
  async #judge(call: HostileCall): Promise<void> {
    const { answer, asker, log } = call;
    if (log?.isFirst(call) === false) this.report.reused++;
    if (answer === undefined || log === undefined) return;
    this.report.answered++;
    const isOther = isMistaken(call, answer);
    if (isOther) this.report.mistaken++;
    const { pieces } = log.evidenceOf(call);
    const problems = isOther ? answerProblems(call, answer, answer) : await this.#problemsOf(call, answer, log);
    if (problems.length > 0) {
      const sent = JSON.stringify(pieces.map((piece) => piece.toString('latin1')));
      this.report.failures.push(`request ${asker.number} of account ${asker.account}: ${problems.join('; ')}\n${sent}`);
    }
  }

  /**
   * Pieces that were under way when the request was written came after it, and HTTP/1.1 cannot tell them from its
   * answer.
   */
  async #problemsOf(call: HostileCall, answer: ReadAnswer, log: RequestLog): Promise<string[]> {
    let first: string[] | undefined;
    for (let early = 0; early <= log.piecesBefore(call); early++) {
      const { pieces, isEnded } = log.evidenceOf(call, early);
      const problems = answerProblems(call, answer, await nodeAnswer(call.response.method, pieces, isEnded, nextTurn));
      if (problems.length === 0) {
        if (early > 0) this.report.mistaken++;
        return [];
      }
      first ??= problems;
    }
    return first ?? [];
  }

  #serve(socket: Socket): void {
    const log = new RequestLog();
    let account: number | undefined;
    let text = '';
    this.#sockets.add(socket.on('error', () => undefined));
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (!text.endsWith('\r\n\r\n')) return;
      const call = this.#calls.find(askersIn(text), account);
      text = '';
      if (call === undefined) {
        socket.destroy();
        return;
      }
      account = call.asker.account;
      log.begin(call);
      void this.#answer(socket, log, call);
    });
  }

  async #answer(socket: Socket, log: RequestLog, call: Answerable): Promise<void> {
    let now = 0;
    for (const { turn, sent } of call.response.deliveries) {
      for (; now < turn; now++) await nextTurn();
      if (socket.destroyed || log.isEnded) return;
      if (sent === 'reset') socket.resetAndDestroy();
      else if (Buffer.isBuffer(sent)) {
        log.note(sent);
        socket.write(sent);
      } else if (sent === 'end' || (log.last === call && !call.isOver)) {
        log.note('end');
        socket.end();
      }
    }
  }
}
