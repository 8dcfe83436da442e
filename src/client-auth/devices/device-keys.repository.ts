import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import type { AttestEnvironment } from '../../app-directory/config/app-attest-config.js';
import type { ProofName } from '../../app-directory/config/device-proofs-config.js';
import type { Instant } from '../../common/clock.js';
import { eventBodyOf, eventIdOf, outboxParts } from '../../platform/outbox/outbox-statements.js';
import { AppUserEntity } from '../../users/app-user.entity.js';
import { DeviceKeyEntity } from './attestation.entity.js';
import { CHALLENGE_IN_FORCE } from './challenges.repository.js';
import { type DeviceFacts, plainFacts } from './device-facts.rules.js';

/** A user and one of their device keys. */
export interface UserDevice {
  readonly status: 'active' | 'blocked';
  /** Null: the user has no key with this id. */
  readonly key: StoredDeviceKey | null;
}

/** The stored state for verifying an assertion. */
export interface StoredDeviceKey {
  /** SPKI, DER in base64. */
  readonly publicKey: string;
  /** The counter of the last accepted assertion. */
  readonly counter: number;
  readonly proof: ProofName;
  /** Of App Attest; null for every other proof. */
  readonly environment: AttestEnvironment | null;
  readonly facts: DeviceFacts;
  /** Of the certificates of Android key attestation; none for every other proof. */
  readonly serials: readonly string[];
}

/** A key with an accepted proof. */
export interface ProvenKey extends Omit<StoredDeviceKey, 'counter'> {
  readonly keyId: string;
  /** Of App Attest; null for every other proof. */
  readonly receipt: Buffer | null;
}

/** A key that is about to be stored. */
export interface NewDeviceKey extends ProvenKey {
  readonly userId: string;
}

/** One use of a key: the signed challenge and the counter of the assertion. */
export interface DeviceKeyUse {
  readonly keyId: string;
  readonly userId: string;
  readonly challenge: string;
  /** Null: the key has none. */
  readonly counter: number | null;
  /** Current facts of the device. */
  readonly facts: DeviceFacts;
}

/** Primary key of `device_keys`. */
interface PlaceOfKey {
  readonly appId: string;
  readonly keyId: string;
}

interface UserDeviceRow {
  readonly status: UserDevice['status'];
  readonly publicKey: string | null;
  readonly counter: string;
  readonly proof: ProofName;
  readonly environment: AttestEnvironment | null;
  readonly facts: DeviceFacts | null;
  readonly chainSerials: string[] | null;
}

/** The key `:keyId` of the user `known`. */
const OF_USER = 'device.appId = known.appId AND device.userId = known.id AND device.keyId = :keyId';

const REVOKED = `'device.revoked'`;

/** Keys that {@link DeviceKeysRepository.tellOfListed} looks at in one statement. */
const KEYS_AT_A_TIME = 20_000;

/**
 * A query that reports keys that end. Append {@link outboxParts} of its name.
 *
 * @param source part of a `WITH`, one row for each key.
 * @param reason of `DeviceEventData`.
 * @param at when they end, SQL.
 * @param since distinguishes two ends of one key, SQL.
 */
function revokedIn(source: string, reason: string, at: string, since: string): string {
  const id = eventIdOf({
    ...{ type: REVOKED, account: 'organization_id', app: 'app_id', group: 'user_id', id: 'key_id' },
    periodStart: since,
  });
  const data = `json_build_object('account', organization_id, 'app', app_id, 'user', user_id, 'device', key_id,
    'reason', '${reason}')`;
  return `
    SELECT ${id} AS id, organization_id, ${REVOKED} AS type, app_id,
      concat_ws(':', 'user', app_id, user_id) AS subject, ${at} AS at, key_id AS place,
      ${eventBodyOf(REVOKED, at, data)} AS body
    FROM ${source}`;
}

const DELETE_OLDEST = `
  WITH deleted AS (
    DELETE FROM device_keys WHERE organization_id = $1 AND app_id = $2 AND key_id IN (
      SELECT key_id FROM device_keys WHERE app_id = $2 AND user_id = $3 AND key_id <> $4
      ORDER BY last_used_at DESC, created_at DESC, key_id OFFSET $5)
    RETURNING organization_id, app_id, user_id, key_id, created_at),
  told AS (${revokedIn('deleted', 'device_limit', '$6::timestamptz', 'created_at')}),
  ${outboxParts('told')}
  SELECT`;

/** Of the next keys, those with a serial number of `$1`, and with none that is listed already. */
const TELL_OF_LISTED = `
  WITH page AS MATERIALIZED (
    SELECT organization_id, app_id, user_id, key_id, chain_serials FROM device_keys
    WHERE (app_id, key_id) > ($3, $4) ORDER BY app_id, key_id LIMIT ${KEYS_AT_A_TIME}),
  ended AS (
    SELECT * FROM page WHERE EXISTS (SELECT FROM unnest(chain_serials) AS serial WHERE serial = ANY ($1::text[]))
      AND NOT EXISTS (SELECT FROM android_revoked_serials listed WHERE listed.serial = ANY (chain_serials))),
  told AS (${revokedIn('ended', 'certificate_revoked', '$2::timestamptz', '$2::timestamptz')}),
  ${outboxParts('told')}
  SELECT app_id AS "appId", key_id AS "keyId" FROM page ORDER BY app_id DESC, key_id DESC LIMIT 1`;

/** Writes `device_keys`; reads `app_users` and `android_revoked_serials`. */
@Injectable()
export class DeviceKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @returns `undefined` when no such user is stored. */
  async findDevice(app: AppRef, userId: string, keyId: string): Promise<UserDevice | undefined> {
    const row = await this.dataSource.manager
      .createQueryBuilder(AppUserEntity, 'known')
      .leftJoin(DeviceKeyEntity, 'device', OF_USER, { keyId })
      .where({ organizationId: app.organizationId, appId: app.id, id: userId })
      .select(['known.status AS status', 'device.counter AS counter', 'device.environment AS environment'])
      .addSelect(['device.proof AS proof', 'device.facts AS facts'])
      .addSelect('device.publicKey', 'publicKey')
      .addSelect('device.chainSerials', 'chainSerials')
      .getRawOne<UserDeviceRow>();
    if (row === undefined) return undefined;
    const { status, publicKey, counter, chainSerials, ...proven } = row;
    // A key from before App Attest had signals has only an environment.
    const facts = row.facts ?? (row.environment && plainFacts(row.environment));
    if (publicKey === null || facts === null) return { status, key: null };
    return { status, key: { ...proven, facts, publicKey, counter: Number(counter), serials: chainSerials ?? [] } };
  }

  /** Stores a key with counter 0; replaces an existing key with the same id, of any user. */
  async put(tx: EntityManager, app: AppRef, key: NewDeviceKey, at: Instant): Promise<void> {
    const { serials, ...proven } = key;
    const chainSerials = serials.length === 0 ? null : [...serials];
    const owned = { ...proven, chainSerials, organizationId: app.organizationId, appId: app.id };
    const row = { ...owned, counter: '0', createdAt: at, lastUsedAt: at };
    await tx.upsert(DeviceKeyEntity, row, ['appId', 'keyId']);
  }

  /**
   * Deletes the least recently used keys of the key's user until `kept` remain, and reports them to webhooks. The key
   * itself always stays, so that a clock difference between instances cannot delete it.
   */
  async deleteOldest(
    tx: EntityManager,
    app: AppRef,
    key: Pick<NewDeviceKey, 'keyId' | 'userId'>,
    kept: number,
    at: Instant,
  ): Promise<void> {
    await tx.query(DELETE_OLDEST, [app.organizationId, app.id, key.userId, key.keyId, kept - 1, at]);
  }

  /**
   * Reports to webhooks the keys that end because serial numbers of their certificates are about to be listed in
   * `android_revoked_serials`, in the transaction that lists them. The keys stay, because an entry may be lifted.
   */
  async tellOfListed(tx: EntityManager, serials: readonly string[], at: Instant): Promise<void> {
    if (serials.length === 0) return;
    for (let last: PlaceOfKey | undefined = { appId: '', keyId: '' }; last !== undefined; ) {
      const rows: PlaceOfKey[] = await tx.query(TELL_OF_LISTED, [serials, at, last.appId, last.keyId]);
      [last] = rows;
    }
  }

  /**
   * Spends the challenge and raises the counter in one statement: under concurrency, one challenge raises one counter
   * once, and a counter never decreases.
   *
   * @returns which of the two happened; without the challenge the counter stays.
   */
  async use(app: AppRef, use: DeviceKeyUse, at: Instant): Promise<{ spent: boolean; moved: boolean }> {
    const [row]: { spent: boolean; moved: boolean }[] = await this.dataSource.query(
      `WITH spent AS (
         DELETE FROM auth_challenges WHERE challenge = $5 AND app_id = $2 AND ${CHALLENGE_IN_FORCE} RETURNING 1),
       moved AS (
         UPDATE device_keys SET counter = coalesce($6, counter), last_used_at = $7, facts = $8
         WHERE organization_id = $1 AND app_id = $2 AND user_id = $3 AND key_id = $4
           AND ($6::bigint IS NULL OR counter < $6)
           AND EXISTS (SELECT FROM spent) RETURNING 1)
       SELECT EXISTS (SELECT FROM spent) AS spent, EXISTS (SELECT FROM moved) AS moved`,
      [app.organizationId, app.id, use.userId, use.keyId, use.challenge, use.counter, at, JSON.stringify(use.facts)],
    );
    return row ?? { spent: false, moved: false };
  }
}
