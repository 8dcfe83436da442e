import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Instant } from '../../../common/clock.js';
import { BackgroundDataSource } from '../../../platform/database/pools.js';
import { DeviceKeysRepository } from '../device-keys.repository.js';
import type { RevokedSerial } from './revocation-list.rules.js';

/** Only while an application accepts key attestation. */
const LEASE = `
  UPDATE android_revocation_list SET next_read_at = $2, asked_since = coalesce(asked_since, $1)
   WHERE next_read_at <= $1 AND EXISTS (
     SELECT FROM apps WHERE authentication_type = 'device_proofs'
        AND config #> '{authentication,proofs,key_attestation}' IS NOT NULL)
  RETURNING CASE WHEN url = $3 THEN etag END AS etag`;
const CONFIRM = 'UPDATE android_revocation_list SET read_at = $1, next_read_at = $2';
const RECORD = 'UPDATE android_revocation_list SET read_at = $1, next_read_at = $2, url = $3, etag = $4';
const ADDED = 'SELECT unnest($1::text[]) AS serial EXCEPT SELECT serial FROM android_revoked_serials';
const REMOVE = 'DELETE FROM android_revoked_serials WHERE serial NOT IN (SELECT unnest($1::text[]))';
const PUT = `
  INSERT INTO android_revoked_serials (serial, status) SELECT * FROM unnest($1::text[], $2::text[])
  ON CONFLICT (serial) DO UPDATE SET status = excluded.status
    WHERE android_revoked_serials.status <> excluded.status`;
const JUDGE = `
  SELECT coalesce(read_at, asked_since) AS since, read_at AS "readAt",
         ARRAY(SELECT serial FROM android_revoked_serials WHERE serial = ANY($1)) AS revoked
    FROM android_revocation_list`;

/** One read of the list, which began at `at`. */
export interface ListReading {
  readonly at: Instant;
  readonly nextAt: Instant;
}

/** A list that was read. */
export interface NewList extends ListReading {
  readonly url: string;
  readonly etag: string | null;
  readonly serials: readonly RevokedSerial[];
}

/** What the stored list says about serial numbers. */
export interface SerialJudgement {
  readonly revoked: readonly string[];
  /** When the list was last read; null: never. */
  readonly readAt: Instant | null;
  /** When it was last read, else first requested; null: neither. */
  readonly since: Instant | null;
}

/** Writes `android_revocation_list` and `android_revoked_serials`; reads `apps`. */
@Injectable()
export class RevocationListRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly background: BackgroundDataSource,
    private readonly keys: DeviceKeysRepository,
  ) {}

  /**
   * Claims a due read for one instance; the others wait until `until`.
   *
   * @returns the ETag of the stored list, if it is from this URL; `undefined` when nothing is due.
   */
  async lease(at: Instant, until: Instant, url: string): Promise<{ readonly etag: string | null } | undefined> {
    const [rows]: [{ etag: string | null }[], number] = await this.background.query(LEASE, [at, until, url]);
    return rows[0];
  }

  /** The stored list is still the current one. */
  async confirm({ at, nextAt }: ListReading): Promise<void> {
    await this.background.query(CONFIRM, [at, nextAt]);
  }

  /** Stores a list, and reports the keys that end by it. */
  async replace({ at, nextAt, url, etag, serials }: NewList): Promise<void> {
    const numbers = serials.map(({ serial }) => serial);
    await this.background.transaction(async (tx) => {
      // Locks the row, so that two readings are stored one after the other.
      await tx.query(RECORD, [at, nextAt, url, etag]);
      const added: { serial: string }[] = await tx.query(ADDED, [numbers]);
      const newlyListed = added.map(({ serial }) => serial);
      await this.keys.tellOfListed(tx, newlyListed, at);
      await tx.query(REMOVE, [numbers]);
      await tx.query(PUT, [numbers, serials.map(({ status }) => status)]);
    });
  }

  async judge(serials: readonly string[]): Promise<SerialJudgement> {
    const [row]: SerialJudgement[] = await this.dataSource.query(JUDGE, [serials]);
    if (row === undefined) throw new Error('the row of android_revocation_list is missing');
    return row;
  }
}
