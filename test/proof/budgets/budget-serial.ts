import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../../support/seeded.js';
import type { BudgetFleet, FleetApp } from './budget-fleet.js';
import { OUTPUT_NANO_USD } from './paid-calls.js';
import type { PaidAnswer, PaidClient } from './paid-client.js';

const MOST_TOKENS = 400;
const MOST_CALLS = 200;
const MOST_PAUSE_MS = 80;

/** A client that sends one call at a time, to one instance and then the other, until it is refused. */
export class SerialClient {
  private readonly random: () => number;
  private made = 0;

  constructor(
    private readonly fleet: BudgetFleet,
    private readonly client: PaidClient,
    private readonly app: FleetApp,
    private readonly userId: string,
    seed: number,
  ) {
    this.random = seeded(seed);
  }

  /**
   * Calls whose budget is currently unknown to an instance (503) are repeated.
   *
   * @returns the refusal, and how many calls were served before it.
   */
  async untilRefused(): Promise<{ refusal: PaidAnswer; served: number }> {
    let served = 0;
    for (let calls = 0; calls < MOST_CALLS; calls++) {
      const answer = await this.next();
      if (answer.status === 200) served++;
      else if (answer.status !== 503) return { refusal: answer, served };
      await sleep(this.random() * MOST_PAUSE_MS * Math.round(this.random()));
    }
    throw new Error(`served ${served} of ${MOST_CALLS} times`);
  }

  /** One more call. */
  next(mostTokens = 1 + Math.floor(this.random() * MOST_TOKENS)): Promise<PaidAnswer> {
    const { app, userId } = this;
    const instance = this.made++ % this.fleet.instances.length;
    return this.client.call({ app, userId, instance, treatment: 'whole', mostTokens, isStream: this.random() < 0.3 });
  }
}

/** The cost of this many tokens, in whole nano-dollars. */
export const tokensCost = (tokens: number): number => tokens * OUTPUT_NANO_USD;
