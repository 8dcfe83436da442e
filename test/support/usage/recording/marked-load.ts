import { setTimeout as sleep } from 'node:timers/promises';
import { markerText } from '../../proxy/upstream.js';

/** Pause after a call that failed: the service is being restarted, and needs the machine for it. */
const RETRY_MS = 100;

export interface MarkedTarget {
  readonly url: string;
  readonly stream: boolean;
}

/** Of a whole, successful answer; on the clock of `performance.now()`. */
interface Completion {
  readonly sentAtMs: number;
  /** When its last byte was read. */
  readonly atMs: number;
}

/** Calls that each carry a marker of their own, from many clients at once, until told to stop. No call is repeated. */
export class MarkedLoad {
  /** By marker. */
  readonly completed = new Map<string, Completion>();
  private sent = 0;
  private stopped = false;
  private clients: Promise<void>[] = [];

  constructor(
    private readonly targets: readonly MarkedTarget[],
    private readonly headers: Readonly<Record<string, string>>,
    private readonly markerHeader: string,
  ) {}

  start(clients: number): void {
    this.clients = Array.from({ length: clients }, (_, number) => this.client(number));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.clients);
  }

  private async client(number: number): Promise<void> {
    const target = this.targets[number % this.targets.length];
    if (target === undefined) throw new Error('no target');
    while (!this.stopped) {
      const marker = `m${++this.sent}`;
      const sentAtMs = performance.now();
      if (await this.call(target, marker)) this.completed.set(marker, { sentAtMs, atMs: performance.now() });
      else await sleep(RETRY_MS);
    }
  }

  private async call(target: MarkedTarget, marker: string): Promise<boolean> {
    try {
      const answer = await fetch(target.url, {
        method: 'POST',
        headers: { ...this.headers, 'content-type': 'application/json', [this.markerHeader]: marker },
        body: JSON.stringify({
          model: 'gpt-4.1',
          stream: target.stream,
          messages: [{ role: 'user', content: markerText(marker) }],
        }),
      });
      const text = await answer.text();
      return answer.status === 200 && (!target.stream || text.includes('[DONE]'));
    } catch {
      return false;
    }
  }
}
