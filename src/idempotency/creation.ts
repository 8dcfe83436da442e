import type { EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { Secret } from '../common/log/secret.js';

/**
 * Runs the statements of a creation in its one transaction. They return what was created; `undefined` when nothing was.
 *
 * The statements must not use another connection of the pool: callers that wait for one could hold all of them.
 */
export type Write<T> = <R extends T | undefined>(statements: (tx: EntityManager) => Promise<R>) => Promise<R>;

/** Stores the record of a response in the transaction of the creation. */
type KeepRecord = (tx: EntityManager, answer: CreationAnswer<object>) => Promise<void>;

/** A creation, with a record when the request has an idempotency key. */
export class Creation {
  constructor(
    /** Runs statements in a transaction. */
    private readonly transaction: Write<unknown>,
    private readonly keepRecord: KeepRecord | undefined,
  ) {}

  /**
   * Creates and returns the response body.
   *
   * The record is written last, so that a transaction that waits for the same record holds no lock that the other one
   * still needs. The loser's statements are rolled back as a whole.
   *
   * @param create the use case; it writes only through the given function.
   * @param toAnswer must be synchronous: the transaction is open.
   * @throws unknown any error of `create`, and a violation of `creation_receipts_pkey` for the loser of a race.
   */
  async run<T, A extends object>(
    create: (write: Write<T>) => Promise<T>,
    toAnswer: (created: T) => CreationAnswer<A>,
  ): Promise<A> {
    const write: Write<T> = (statements) =>
      this.transaction(async (tx) => {
        const created = await statements(tx);
        if (created !== undefined) await this.keepRecord?.(tx, toAnswer(created));
        return created;
      });
    return toAnswer(await create(write)).body;
  }
}

/** The kind of a created resource; an idempotency key may be used once per kind. */
export type CreationKind = 'app' | 'app_key' | 'provider' | 'provider_gateway';

/** Ids of the created resources. With a `keyId` the response holds a key that is shown once. */
export interface CreatedIds {
  readonly appId?: string;
  readonly keyId?: string;
  readonly providerId?: string;
  readonly providerGatewayId?: string;
}

/** The response of a creation: the body and the created ids. */
export interface CreationAnswer<A extends object> {
  readonly body: A;
  readonly ids: CreatedIds;
}

/** The claim of a creation with an idempotency key: its owner, and the hashes that identify a retry. */
export interface RecordClaim {
  readonly id: string;
  readonly organizationId: string;
  readonly identityId: string;
  readonly credentialId: string;
  readonly kind: CreationKind;
  readonly proof: Secret;
  readonly proofHash: string;
  readonly requestHash: string;
}

/** A stored record. Exactly one of the two answers is set, until the sealed one is cleared. */
export interface IdempotencyRecord {
  readonly proofHash: string;
  readonly requestHash: string;
  readonly ids: CreatedIds;
  /** JSON text of the response when it holds no key. */
  readonly answer: string | null;
  /** The same, sealed, when it holds a key. */
  readonly sealedAnswer: string | null;
  /** End of the replay of the sealed answer; null without one. */
  readonly sealedUntil: Instant | null;
}
