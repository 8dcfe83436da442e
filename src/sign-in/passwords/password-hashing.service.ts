import { Injectable } from '@nestjs/common';
import { hash, type Options, verify } from '@node-rs/argon2';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';

/**
 * Argon2id, 19 MiB, two passes, one lane.
 *
 * Source: OWASP Password Storage; docs/reference/security.md#stored-secrets.
 */
const PARAMETERS: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each hash takes one core and 19 MiB for about 30 ms. */
const MAX_AT_ONCE = 2;
/** About one second of work. */
const MAX_WAITING = 50;
/** Hash of an unknown random text with the parameters above, verified when no password is stored. */
const DUMMY_HASH = '$argon2id$v=19$m=19456,t=2,p=1$6CbEBLLJp92WO9vTEokmmg$rcKl4PSSc99yj58Nc5R27VkUTvluflBd+7ozwmSQH/k';

/**
 * Hashes passwords with bounded concurrency, so that hashing does not starve other work.
 *
 * Every method throws service_unavailable when the queue is full.
 */
@Injectable()
export class PasswordHashing {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** @returns the hash with its salt and parameters, in the PHC format. */
  hash(password: Secret): Promise<string> {
    return this.withSlot(() => hash(password.reveal(), PARAMETERS));
  }

  /**
   * Whether a password matches the stored hash.
   *
   * @param stored `undefined` when there is none: the call takes as long and returns false.
   */
  async verify(stored: string | undefined, password: Secret): Promise<boolean> {
    const isRight = await this.withSlot(() => verify(stored ?? DUMMY_HASH, password.reveal()));
    return isRight && stored !== undefined;
  }

  private async withSlot<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < MAX_AT_ONCE) this.running++;
    else await this.waitForSlot();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }

  /** Waits for a free slot. A call that ends hands its slot to the next in the queue. */
  private waitForSlot(): Promise<void> {
    if (this.waiting.length >= MAX_WAITING) {
      throw new GatewayError('service_unavailable', { reason: 'password_hashing_busy', retryAfterSeconds: 2 });
    }
    return new Promise((begin) => this.waiting.push(begin));
  }
}
