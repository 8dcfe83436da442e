import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Deployment } from '../../accounts/access/deployment.js';
import { Clock, type Instant, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { KeyedQueue } from '../../common/keyed-queue.js';
import { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { proofHash } from '../../common/proof-hash.rules.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { type ApprovalState, stateAt } from '../../sign-in/approvals/approval.rules.js';
import {
  approvalUrl,
  browserProofOf,
  LOGIN_KEPT_MS,
  MAX_PENDING,
  operationIdOf,
  PENDING_MS,
  type TerminalClient,
  tokenOfAnotherOperation,
  userCodeOf,
} from '../operations/operation.rules.js';
import { OperationSeals } from '../operations/operation-seals.js';
import { type OperationRow, OperationsRepository } from '../operations/operations.repository.js';
import { UserCodes } from './user-codes.service.js';

/** Codes that belong to other pending logins are skipped; with 852 billion codes, more attempts indicate a defect. */
const MAX_CODE_ATTEMPTS = 5;

/** What a terminal sends to log in. */
export interface LoginRequest {
  readonly token: Secret;
  readonly client: TerminalClient;
  /** The listener of the terminal that gets a one-time code; without it the terminal polls for the key. */
  readonly loopbackRedirect: string | null;
  /** The client address, as `addressOf`. */
  readonly address: string;
}

/** A login as its terminal sees it. */
export interface OpenLogin {
  readonly id: string;
  readonly state: ApprovalState;
  /** The approval page with its proof; null unless pending. */
  readonly url: string | null;
  /** `ABCD-EFGH`; null unless pending. */
  readonly userCode: string | null;
  readonly expiresAt: Instant;
}

/**
 * Opens logins of terminals. A person approves them, and `LoginKeys` hands the key over.
 *
 * Source: docs/reference/management-api.md#terminal-login.
 */
@Injectable()
export class CliLogins {
  readonly #turns = new KeyedQueue();

  constructor(
    private readonly dataSource: DataSource,
    private readonly operations: OperationsRepository,
    private readonly seals: OperationSeals,
    private readonly codes: UserCodes,
    private readonly deployment: Deployment,
    private readonly limits: AddressLimits,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Opens the login of a token, or returns the one that it opened before. Only a new login counts against the limits,
   * and no answer holds the key.
   *
   * @throws conflict the token opened another kind of operation; rate_limited too many logins of this address in an
   * hour, or too many that are pending.
   */
  async open(request: LoginRequest): Promise<OpenLogin> {
    const id = operationIdOf(request.token);
    const known = (await this.operations.find(id)) ?? (await this.insert(id, request));
    if (known.kind !== 'login') throw tokenOfAnotherOperation();
    return this.describe(known, request.token);
  }

  private async describe(login: OperationRow, token: Secret): Promise<OpenLogin> {
    const { id, expiresAt } = login;
    const state = stateAt(login, this.clock.nowMs());
    if (state !== 'pending') return { id, state, url: null, userCode: null, expiresAt };
    const url = approvalUrl(await this.deployment.facts(), id, token);
    return { id, state, url, userCode: this.codes.shownFor(login), expiresAt };
  }

  private async insert(id: string, request: LoginRequest): Promise<OperationRow> {
    const { address, token } = request;
    await this.limits.requireRoom('login', { subject: address });
    const { id: deploymentId } = await this.deployment.facts();
    for (let attempt = 0; attempt < MAX_CODE_ATTEMPTS; attempt++) {
      const stored = await this.#turns.take(address, () =>
        this.dataSource.transaction(async (tx) => {
          const isNew = await this.insertOnce(tx, id, request, userCodeOf(token, deploymentId, attempt));
          if (isNew) {
            await this.limits.admit('login', { subject: address });
            this.log.event('cli_login_opened', { operation: id });
          }
          return this.operations.find(id, tx);
        }),
      );
      if (stored !== undefined) return stored;
    }
    throw new Error('No free user code.');
  }

  /** @returns whether the login is new. */
  private async insertOnce(tx: EntityManager, id: string, request: LoginRequest, userCode: Secret): Promise<boolean> {
    const { token, client, loopbackRedirect, address } = request;
    const { id: deploymentId } = await this.deployment.facts(tx);
    const now = this.clock.now();
    await this.operations.lockAddress(tx, address);
    const isNew = await this.operations.insert(tx, {
      ...{ id, kind: 'login', state: 'pending', client, loopbackRedirect, address },
      proofHash: proofHash(browserProofOf(token, deploymentId)),
      userCodeMac: this.seals.userCodeMac(userCode),
      sealedUserCode: this.seals.seal('user code', id, userCode),
      createdAt: now,
      expiresAt: instantOf(now.getTime() + PENDING_MS),
      keptUntil: instantOf(now.getTime() + LOGIN_KEPT_MS),
    });
    if (!isNew) return false;
    if ((await this.operations.countPending(tx, { kind: 'login', address }, now)) > MAX_PENDING) throw tooManyPending();
    return true;
  }
}

function tooManyPending(): GatewayError {
  return new GatewayError('rate_limited', {
    message: `Too many pending logins: at most ${MAX_PENDING} per address. Approve or decline one, or wait.`,
    reason: 'too_many_pending_logins',
    retryAfterSeconds: 60,
  });
}
