import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LEASE_MS } from '../../platform/instances/instances.repository.js';

/** A key of a caller, which identifies one call. Key and request are keyed hashes. */
interface StreamClaim {
  readonly keyMark: string;
  readonly requestMark: string;
  readonly claimId: string;
  readonly instanceId: string;
  /** How long it is valid unless renewed. */
  readonly seconds: number;
}

/** The call that already has a key. */
export interface ClaimedCall {
  readonly requestMark: string;
  /** Its answer; null before that has begun. */
  readonly stream: string | null;
  /** Whether the instance of the call is running. */
  readonly isOwned: boolean;
}

type ClaimRef = Pick<StreamClaim, 'keyMark' | 'claimId'>;

/** A claim that has expired is free. No other statement can run between the two: the row is locked. */
const CLAIM = `
  INSERT INTO stream_claims AS held (key_mark, request_mark, claim_id, instance_id, expires_at)
  VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 second')
  ON CONFLICT (key_mark) DO UPDATE
    SET request_mark = excluded.request_mark, claim_id = excluded.claim_id, instance_id = excluded.instance_id,
      stream = NULL, expires_at = excluded.expires_at
    WHERE held.expires_at <= clock_timestamp()
  RETURNING claim_id`;

const FIND = `
  SELECT request_mark AS "requestMark", stream, EXISTS (
      SELECT FROM gateway_instances owner
      WHERE owner.id = instance_id AND owner.seen_at > clock_timestamp() - $2 * interval '1 millisecond'
    ) AS "isOwned"
  FROM stream_claims WHERE key_mark = $1`;

/**
 * The table stream_claims. Its keys are keyed hashes of application, user and key, so no statement names an account.
 */
@Injectable()
export class StreamClaimsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @returns the call that has the key; undefined if this claim got it, `gone` if it has just become free. */
  async claim({
    keyMark,
    requestMark,
    claimId,
    instanceId,
    seconds,
  }: StreamClaim): Promise<ClaimedCall | undefined | 'gone'> {
    const parameters = [keyMark, requestMark, claimId, instanceId, seconds];
    const made = await this.dataSource.query<unknown[]>(CLAIM, parameters);
    if (made.length > 0) return undefined;
    const [held] = await this.dataSource.query<ClaimedCall[]>(FIND, [keyMark, LEASE_MS]);
    return held ?? 'gone';
  }

  /** Sets the answer of a claim. */
  async begin({ keyMark, claimId }: ClaimRef, stream: string): Promise<void> {
    await this.dataSource.query('UPDATE stream_claims SET stream = $3 WHERE key_mark = $1 AND claim_id = $2', [
      ...[keyMark, claimId, stream],
    ]);
  }

  /**
   * Names the answer, which has ended, and lets the claim hold as long as it is kept.
   *
   * @param expiresAtMs in milliseconds since the Unix epoch.
   */
  async end({ keyMark, claimId }: ClaimRef, stream: string, expiresAtMs: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE stream_claims SET stream = $3, expires_at = to_timestamp($4::float8 / 1000)
       WHERE key_mark = $1 AND claim_id = $2`,
      [keyMark, claimId, stream, expiresAtMs],
    );
  }

  async free({ keyMark, claimId }: ClaimRef): Promise<void> {
    await this.dataSource.query('DELETE FROM stream_claims WHERE key_mark = $1 AND claim_id = $2', [keyMark, claimId]);
  }

  /** Extends claims by this many seconds from now, and deletes expired ones. */
  async renew(claims: readonly ClaimRef[], seconds: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE stream_claims SET expires_at = greatest(expires_at, clock_timestamp() + $2 * interval '1 second')
       WHERE claim_id = ANY($1::uuid[])`,
      [claims.map(({ claimId }) => claimId), seconds],
    );
    await this.dataSource.query("DELETE FROM stream_claims WHERE expires_at < clock_timestamp() - interval '1 minute'");
  }
}
