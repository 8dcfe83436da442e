import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock, type Instant, instantOf } from '../../common/clock.js';
import { isInForce, latestExpiryMs } from '../../common/credential-lifetime.rules.js';
import { Ids } from '../../common/ids.js';
import { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import { AuthSecrets } from '../../platform/secrets/signing-secrets.js';
import { IV_BYTES, openText, sealText } from '../../platform/vault/sealed-blob.rules.js';
import type { ActionSource, AdminPrincipal, AuditActor, Grant } from '../access/admin-principal.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { KeyOwner } from '../management-keys/management-keys.repository.js';
import { ManagementKeysService, principalOf } from '../management-keys/management-keys.service.js';
import { ConnectionsRepository, type OAuthTokenRow } from './connections.repository.js';
import {
  ACCESS_SECONDS,
  answerKeyOf,
  CONNECTION_MS,
  isIssuedHere,
  newPair,
  type PresentedToken,
  RANDOM_BYTES,
  REPLAY_MS,
  ROTATION_MS,
  type TokenAudience,
  type TokenPair,
  tokenHash,
} from './oauth-token.rules.js';

const HINT_LENGTH = 4;
const ID_RANDOM_LENGTH = 20;

/** A client that a person gives access. */
export interface NewConnection {
  readonly organizationId: string;
  readonly identityId: string;
  readonly clientId: string;
  /** The client's own name. */
  readonly clientName: string;
  readonly grant: Grant;
  /** Until then the client must have exchanged its code. */
  readonly expiresAt: Instant;
}

/** Why a connection ended, if its owner did not revoke it. */
export type ConnectionEnd = 'client' | 'code_reused' | 'refresh_token_reused';

/** What a client presents for new tokens; absent members are not compared. */
export interface RefreshRequest {
  readonly clientId: string;
  readonly grant?: Grant | undefined;
  readonly audience?: TokenAudience | undefined;
}

/** Tokens with their grant, or why there are none. */
export type Refreshed =
  | { readonly pair: TokenPair; readonly grant: Grant }
  | 'unknown'
  | 'wrong_client'
  | 'reused'
  | 'wrong_grant'
  | 'wrong_audience';

/**
 * Connections of OAuth clients. A connection is a row among the management keys, with the grant, role and revocation of
 * one; its tokens change with every refresh. There is no cache.
 *
 * Source: docs/reference/management-api.md#oauth-tokens.
 */
@Injectable()
export class Connections {
  constructor(
    private readonly dataSource: DataSource,
    private readonly connections: ConnectionsRepository,
    private readonly keys: ManagementKeysService,
    private readonly secrets: AuthSecrets,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly log: Log,
  ) {}

  /**
   * Opens a connection without tokens.
   *
   * @param by who gives the client access, in the organization of the connection.
   * @returns its id.
   * @throws conflict, forbidden as `ManagementKeysService.create`.
   */
  async open(tx: EntityManager, connection: NewConnection, by: AuditActor): Promise<string> {
    const id = `conn_${this.ids.base36(ID_RANDOM_LENGTH)}`;
    const { clientName: name, ...terms } = connection;
    await this.keys.insertConnection(tx, { ...terms, id, name });
    const { clientId, grant } = connection;
    await this.trail.record(tx, by, {
      ...{ action: 'connection.created', targetType: 'connection', targetId: id },
      details: { name, client: clientId, grant },
    });
    return id;
  }

  /**
   * Issues the first tokens of a connection.
   *
   * @returns `undefined`: the connection is revoked or expired, or its owner has left.
   */
  async issue(
    tx: EntityManager,
    id: string,
    audience: TokenAudience,
  ): Promise<{ readonly pair: TokenPair; readonly grant: Grant } | undefined> {
    await this.connections.lock(tx, id);
    const owner = await this.keys.lockOwner(tx, id);
    if (owner === undefined) return undefined;
    const pair = await this.insertGeneration(tx, { connectionId: id, generation: 1, audience });
    return { pair, grant: owner.grant };
  }

  /**
   * Replaces the tokens of a connection. The replaced refresh token returns the same pair for 30 s, a new one its own
   * pair for 5 s. After that a replaced one is stolen or copied: the connection ends.
   */
  async refresh(presented: PresentedToken, request: RefreshRequest): Promise<Refreshed> {
    return this.dataSource.transaction(async (tx) => {
      const connection = await this.connections.lock(tx, presented.connectionId);
      if (connection === undefined) return 'unknown';
      const owner = await this.keys.lockOwner(tx, connection.id);
      const nowMs = this.clock.nowMs();
      const expiresAtMs = connection.expiresAt?.getTime() ?? 0;
      if (owner === undefined || !isInForce(expiresAtMs, CONNECTION_MS, nowMs)) return 'unknown';
      if (connection.clientId !== request.clientId) return 'wrong_client';
      const tokens = await this.connections.tokensOf(tx, connection.id);
      const hash = tokenHash(presented.token);
      const held = tokens.find(({ refreshHash }) => refreshHash === hash);
      if (held === undefined || (held !== tokens[0] && held.answerUntil.getTime() <= nowMs)) {
        if (held === undefined && !isIssuedHere(presented, this.ownSecrets())) return 'unknown';
        await this.end(tx, owner, 'refresh_token_reused');
        return 'reused';
      }
      if (request.grant !== undefined && request.grant !== owner.grant) return 'wrong_grant';
      if (request.audience !== undefined && request.audience !== held.audience) return 'wrong_audience';
      const pair = await this.pairFor(tx, held, presented.token);
      return { pair, grant: owner.grant };
    });
  }

  /**
   * Ends the connection of a token. A token that was never issued here ends nothing.
   *
   * @param clientId of the client that presents it.
   * @returns the connection's id if it was in force.
   */
  async revoke(presented: PresentedToken, clientId: string): Promise<string | undefined> {
    return this.dataSource.transaction(async (tx) => {
      const connection = await this.connections.lock(tx, presented.connectionId);
      if (connection === undefined || connection.clientId !== clientId) return undefined;
      const hash = tokenHash(presented.token);
      const tokens = await this.connections.tokensOf(tx, connection.id);
      const isHeld = tokens.some(({ accessHash, refreshHash }) => accessHash === hash || refreshHash === hash);
      const isOurs = isHeld || (presented.kind === 'refresh' && isIssuedHere(presented, this.ownSecrets()));
      const owner = isOurs ? await this.keys.lockOwner(tx, connection.id) : undefined;
      if (owner === undefined) return undefined;
      await this.end(tx, owner, 'client');
      return owner.id;
    });
  }

  /** Ends a connection whose code was used twice. */
  async endReused(tx: EntityManager, id: string): Promise<void> {
    await this.connections.lock(tx, id);
    const owner = await this.keys.lockOwner(tx, id);
    if (owner !== undefined) await this.end(tx, owner, 'code_reused');
  }

  /**
   * The owner of an access token with its current role. `undefined` as `ManagementKeysService.authenticate`, and for a
   * token of another audience.
   */
  async authenticate(
    { connectionId, token }: PresentedToken,
    { at, source }: { readonly at: TokenAudience; readonly source: ActionSource },
  ): Promise<AdminPrincipal | undefined> {
    const now = this.clock.now();
    const latestEnd = instantOf(latestExpiryMs(ACCESS_SECONDS * 1000, now.getTime()));
    const access = { connectionId, accessHash: tokenHash(token), atMcp: at === 'mcp' };
    const owner = await this.connections.findOwner(access, now, latestEnd);
    return owner && principalOf(owner, source);
  }

  private async pairFor(tx: EntityManager, held: OAuthTokenRow, refresh: Secret): Promise<TokenPair> {
    if (held.answerUntil.getTime() > this.clock.nowMs()) {
      const opened = openText(answerKeyOf(refresh), held.sealedAnswer, contextOf(held));
      const [access = '', next = ''] = opened?.reveal().split(' ') ?? [];
      if (next === '') throw new Error('A sealed answer does not open for its own token.');
      return { access: new Secret(access), refresh: new Secret(next) };
    }
    const { connectionId, generation, audience } = held;
    const pair = await this.insertGeneration(tx, { connectionId, generation: generation + 1, audience });
    await this.connections.setAnswer(tx, held, this.answerOf(pair, held, refresh, REPLAY_MS));
    return pair;
  }

  private async insertGeneration(
    tx: EntityManager,
    place: Pick<OAuthTokenRow, 'connectionId' | 'generation' | 'audience'>,
  ): Promise<TokenPair> {
    const { connectionId } = place;
    const pair = newPair(connectionId, () => this.ids.bytes(RANDOM_BYTES), this.secrets.current);
    const at = this.clock.now();
    await this.connections.insertToken(tx, {
      ...place,
      accessHash: tokenHash(pair.access),
      accessExpiresAt: instantOf(at.getTime() + ACCESS_SECONDS * 1000),
      refreshHash: tokenHash(pair.refresh),
      ...this.answerOf(pair, place, pair.refresh, ROTATION_MS),
    });
    const tokenHint = pair.refresh.reveal().slice(-HINT_LENGTH);
    await this.connections.renew(tx, connectionId, {
      tokenHint,
      at,
      expiresAt: instantOf(at.getTime() + CONNECTION_MS),
    });
    return pair;
  }

  private answerOf(
    { access, refresh }: TokenPair,
    place: Pick<OAuthTokenRow, 'connectionId' | 'generation'>,
    holder: Secret,
    forMs: number,
  ): Pick<OAuthTokenRow, 'sealedAnswer' | 'answerUntil'> {
    const text = new Secret(`${access.reveal()} ${refresh.reveal()}`);
    const sealedAnswer = sealText(answerKeyOf(holder), this.ids.bytes(IV_BYTES), text, contextOf(place));
    return { sealedAnswer, answerUntil: instantOf(this.clock.nowMs() + forMs) };
  }

  private async end(tx: EntityManager, owner: KeyOwner, reason: ConnectionEnd): Promise<void> {
    await this.keys.withdraw(tx, owner);
    await this.trail.record(tx, principalOf(owner, 'api'), {
      ...{ action: 'connection.revoked', targetType: 'connection', targetId: owner.id },
      details: { reason },
    });
    if (reason !== 'client') this.log.event('oauth_connection_ended', { connection: owner.id, reason });
  }

  private ownSecrets(): readonly Secret[] {
    const { current, previous } = this.secrets;
    return previous === undefined ? [current] : [current, previous];
  }
}

function contextOf({
  connectionId,
  generation,
}: Pick<OAuthTokenRow, 'connectionId' | 'generation'>): Readonly<Record<string, string>> {
  return { purpose: 'oauth answer', connection: connectionId, generation: String(generation) };
}
