import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../../common/http/gateway-request.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { SharedClock } from '../../platform/clock/shared-clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import type { KeepRequest } from './kept-answers.service.js';
import { type ClaimEvents, RepeatClaim } from './repeat-claim.js';
import { type ClaimedCall, StreamClaimsRepository } from './stream-claims.repository.js';
import { partsOf } from './stream-id.rules.js';
import { StreamIds } from './stream-ids.service.js';

/** Name of the interval in the scheduler. */
const CLAIM_RENEWAL = 'stream-claims';
const RENEW_EVERY_MS = 30_000;
/** A claim outlives three renewals that fail. */
const CLAIM_SECONDS = 120;
/** Poll interval for a call of another instance whose answer has not begun. */
const LOOK_EVERY_MS = 100;
const RETRY_SECONDS = 2;
const KEY = /^[ -~]{1,255}$/;
const NO_BODY = Buffer.alloc(0);
const HEADER = 'idempotency-key';

/** The result for a call with a key: a new call, or a repetition whose answer is kept under this id. */
type Claimed = { readonly claim: RepeatClaim } | { readonly stream: string };

/**
 * Makes repeated calls idempotent for applications that keep answers: one `Idempotency-Key` of a caller is one call at
 * the provider, across all instances. Claims are in Postgres, like everything that must be used only once.
 *
 * Table: stream_claims. Log line: stream_claims_write_failed.
 * Source: docs/reference/application-api.md#repeated-calls.
 */
@Injectable()
export class Repeats implements ClaimEvents {
  /** By the mark of their key: those of this instance that have not expired. */
  readonly #claims = new Map<string, RepeatClaim>();

  constructor(
    private readonly repository: StreamClaimsRepository,
    private readonly marks: StreamIds,
    private readonly ids: Ids,
    private readonly instances: InstanceRegistry,
    private readonly clock: SharedClock,
    private readonly log: Log,
  ) {}

  /**
   * Claims the key of a call, or finds the call that has it. It waits until that is decided.
   *
   * @param request with an `Idempotency-Key`.
   * @returns a claim must be released at the end of its call.
   * @throws invalid_request the key is malformed; idempotency_mismatch; service_unavailable the database does not
   * answer.
   */
  async claim({ owner, config }: KeepRequest, request: GatewayRequest, body: Buffer = NO_BODY): Promise<Claimed> {
    const key = request.headers[HEADER];
    if (typeof key !== 'string' || !KEY.test(key))
      throw invalidRequest('Idempotency-Key', 'must be 1 to 255 printable ASCII characters');
    const { method, raw } = request;
    const keyMark = this.marks.mark('key', ...partsOf(owner), key);
    const requestMark = this.marks.mark('request', method, raw.url ?? '', body);
    while (!raw.socket.destroyed) {
      const own = this.ownClaim(keyMark);
      if (own !== undefined) {
        requireSame(own, requestMark);
        const stream = await own.answer;
        if (stream !== undefined) return { stream: stream.facts.id };
        continue;
      }
      const claim = new RepeatClaim(keyMark, requestMark, this.ids.uuid(), this);
      const held = await this.tryClaim(claim, CLAIM_SECONDS + config.resume_seconds);
      if (held === undefined) return { claim };
      if (held === 'gone') continue;
      requireSame(held, requestMark);
      if (held.stream !== null) return { stream: held.stream };
      // The provider may have been called: the answer is lost.
      if (!held.isOwned) break;
      await sleep(LOOK_EVERY_MS);
    }
    throw new GatewayError('idempotency_stream_ended');
  }

  begun(claim: RepeatClaim): void {
    const id = claim.stream?.facts.id ?? '';
    void this.write(this.repository.begin(claim, id));
  }

  ended(claim: RepeatClaim): void {
    const { facts, expiresAtMs = 0 } = claim.stream ?? {};
    void this.write(this.repository.end(claim, facts?.id ?? '', expiresAtMs));
  }

  freed(claim: RepeatClaim): void {
    this.#claims.delete(claim.keyMark);
    void this.write(this.repository.free(claim));
  }

  /** Renews the claims of running calls, and drops those of expired answers. */
  @Interval(CLAIM_RENEWAL, RENEW_EVERY_MS)
  async renew(): Promise<void> {
    for (const { keyMark } of this.#claims.values()) this.ownClaim(keyMark);
    const running = [...this.#claims.values()].filter(({ stream }) => (stream?.state ?? 'live') === 'live');
    await this.write(this.repository.renew(running, CLAIM_SECONDS));
  }

  /** The claim of a call of this instance, unless its answer has expired. */
  private ownClaim(keyMark: string): RepeatClaim | undefined {
    const claim = this.#claims.get(keyMark);
    if (claim?.stream === undefined || claim.stream.expiresAtMs > this.clock.nowMs()) return claim;
    this.#claims.delete(keyMark);
    return undefined;
  }

  /**
   * Repetitions on this instance wait for the claim from the first moment, so that the database decides for one of
   * them.
   */
  private async tryClaim(claim: RepeatClaim, seconds: number): Promise<ClaimedCall | undefined | 'gone'> {
    this.#claims.set(claim.keyMark, claim);
    let held: ClaimedCall | undefined | 'gone' = 'gone';
    try {
      held = await this.repository.claim({ ...marksOf(claim), instanceId: this.instances.id, seconds });
      return held;
    } catch (error) {
      throw new GatewayError('service_unavailable', {
        message: 'It is currently unknown whether this call is a repetition; try again shortly.',
        reason: 'stream_claim_unknown',
        retryAfterSeconds: RETRY_SECONDS,
        cause: error,
      });
    } finally {
      if (held !== undefined) {
        this.#claims.delete(claim.keyMark);
        claim.abandon();
      }
    }
  }

  /** A claim that was not written is valid here, and expires on other instances. */
  private write(written: Promise<void>): Promise<void> {
    return written.catch((error: unknown) => this.log.event('stream_claims_write_failed', { error: String(error) }));
  }
}

/** Whether the client sends a key, so that a repetition is the same call. */
export function isRepeatable({ headers }: Pick<GatewayRequest, 'headers'>): boolean {
  return headers[HEADER] !== undefined;
}

const marksOf = ({ keyMark, requestMark, claimId }: RepeatClaim) => ({ keyMark, requestMark, claimId });

function requireSame({ requestMark }: Pick<ClaimedCall, 'requestMark'>, mark: string): void {
  if (requestMark !== mark) throw new GatewayError('idempotency_mismatch');
}
