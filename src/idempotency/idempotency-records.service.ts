import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock, instantOf } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Ids } from '../common/ids.js';
import { KeyedQueue } from '../common/keyed-queue.js';
import { AuthSecrets } from '../platform/secrets/signing-secrets.js';
import { IV_BYTES } from '../platform/vault/sealed-blob.rules.js';
import { Creation, type CreationAnswer, type IdempotencyRecord, type RecordClaim, type Write } from './creation.js';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_PROOF } from './idempotency-headers.rules.js';
import { KEY_REPLAY_MS, RECORD_LIFE_MS, type RecordStanding, recordStanding } from './idempotency-record.rules.js';
import { IdempotencyRecordsRepository, type StoredAnswer } from './idempotency-records.repository.js';
import { openAnswer, sealAnswer } from './sealed-answer.rules.js';

/**
 * Stores the responses of creations and replays them on retries.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
@Injectable()
export class IdempotencyRecords {
  readonly #turns = new KeyedQueue();

  constructor(
    private readonly dataSource: DataSource,
    private readonly records: IdempotencyRecordsRepository,
    private readonly secrets: AuthSecrets,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * A creation that stores a record for the claim; without a claim it stores none. Those of one account wait for each
   * other without a database connection: they would wait for the same locks.
   */
  creation(organizationId: string, claim: RecordClaim | undefined): Creation {
    const inTurn: Write<unknown> = (statements) =>
      this.#turns.take(organizationId, () => this.dataSource.transaction(statements));
    return new Creation(inTurn, claim && ((tx, answer) => this.keep(tx, claim, answer)));
  }

  /**
   * The earlier response to the same claim.
   *
   * @returns `undefined` when nothing was created with that key.
   * @throws forbidden the proof differs; conflict the request differs.
   * @throws resource_key_unavailable, resource_receipt_expired the key is not shown again; the error names the created
   * ids.
   */
  async answerBefore(claim: RecordClaim): Promise<object | undefined> {
    const record = await this.records.find(claim);
    if (record === undefined) return undefined;
    const standing = recordStanding(record, claim, {
      isKeyActive: record.isKeyActive,
      nowMs: this.clock.nowMs(),
    });
    const answer = this.answerOf(record, claim, standing);
    if (answer === undefined) throw refusal(standing, record);
    return parsed(answer);
  }

  private answerOf(record: IdempotencyRecord, claim: RecordClaim, standing: RecordStanding): string | undefined {
    if (standing === 'plain_answer') return record.answer ?? undefined;
    if (standing !== 'sealed_answer' || record.sealedAnswer === null) return undefined;
    return openAnswer(record.sealedAnswer, claim, this.secrets);
  }

  private async keep(tx: EntityManager, claim: RecordClaim, { body, ids }: CreationAnswer<object>): Promise<void> {
    const nowMs = this.clock.nowMs();
    const text = JSON.stringify(body);
    const answer: Pick<StoredAnswer, 'answer' | 'sealedAnswer' | 'sealedUntil'> =
      ids.keyId === undefined
        ? { answer: text, sealedAnswer: null, sealedUntil: null }
        : {
            answer: null,
            sealedAnswer: sealAnswer(text, claim, this.secrets, this.ids.bytes(IV_BYTES)),
            sealedUntil: instantOf(nowMs + KEY_REPLAY_MS),
          };
    const times = { createdAt: instantOf(nowMs), expiresAt: instantOf(nowMs + RECORD_LIFE_MS) };
    await this.records.insert(tx, claim, { ...answer, ...times, ids });
  }
}

function parsed(answer: string): object {
  const body: unknown = JSON.parse(answer);
  if (typeof body !== 'object' || body === null) throw new Error('A record holds no answer.');
  return body;
}

/** An answer that no current secret can open counts as expired. */
function refusal(standing: RecordStanding, { ids }: IdempotencyRecord): GatewayError {
  if (standing === 'wrong_proof') {
    return new GatewayError('forbidden', {
      message: `${IDEMPOTENCY_PROOF}: differs from the first request with this ${IDEMPOTENCY_KEY}.`,
      reason: 'idempotency_proof_wrong',
    });
  }
  if (standing === 'changed_request') {
    return new GatewayError('conflict', {
      message: `${IDEMPOTENCY_KEY}: was sent before with another body or path; use a new one for another request.`,
      reason: 'idempotency_request_changed',
    });
  }
  const code = standing === 'key_unavailable' ? 'resource_key_unavailable' : 'resource_receipt_expired';
  return new GatewayError(code, { data: { ...ids } });
}
