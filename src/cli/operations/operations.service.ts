import { Injectable } from '@nestjs/common';
import { Deployment, type DeploymentFacts } from '../../accounts/access/deployment.js';
import type { Organization } from '../../accounts/organizations/organizations.repository.js';
import { Clock, type Instant } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { stateAt } from '../../sign-in/approvals/approval.rules.js';
import { LoginKeys } from '../logins/login-keys.service.js';
import {
  approvalUrl,
  noSuchOperation,
  type OperationFailure,
  type OperationKind,
  type OperationResult,
} from './operation.rules.js';
import { OperationSeals } from './operation-seals.js';
import { OperationsRepository, type PolledOperation } from './operations.repository.js';

/** An operation as its terminal sees it. A declined one counts as expired. */
export interface OperationStanding {
  readonly id: string;
  readonly kind: OperationKind;
  readonly state: 'pending' | 'completed' | 'expired';
  readonly denied?: true;
  readonly expiresAt: Instant;
  readonly url?: string;
  readonly deployment: DeploymentFacts;
  readonly result?: OperationResult;
  readonly failure?: OperationFailure;
  readonly account?: Organization;
}

/** Polls operations. Source: docs/reference/management-api.md#terminal-operations. */
@Injectable()
export class Operations {
  constructor(
    private readonly operations: OperationsRepository,
    private readonly keys: LoginKeys,
    private readonly seals: OperationSeals,
    private readonly deployment: Deployment,
    private readonly clock: Clock,
  ) {}

  /**
   * The state of an operation, in one statement. The first poll of an approved login without a listener takes the key.
   *
   * @param token of the terminal; the guard has compared it with the id.
   * @throws not_found; invalid_request for a bootstrap, which is recovered by sending it again.
   */
  async poll(id: string, token: Secret): Promise<OperationStanding> {
    const deployment = await this.deployment.facts();
    const now = this.clock.now();
    const polled = await this.operations.poll(id, now);
    if (polled === undefined) throw noSuchOperation();
    if (polled.kind === 'bootstrap') throw bootstrapIsNotPolled();
    const { kind, expiresAt, failure } = polled;
    const state = stateAt(polled, now.getTime());
    const standing = { id, kind, expiresAt, deployment, ...(failure !== null && { failure }) };
    if (state === 'denied') return { ...standing, state: 'expired', denied: true };
    if (state === 'expired' || isLost(polled)) return { ...standing, state: 'expired' };
    if (state === 'completed') return { ...standing, state, ...this.resultOf(polled) };
    if (polled.proofHash === null) return { ...standing, state };
    return { ...standing, state, url: approvalUrl(deployment, id, token) };
  }

  private resultOf(polled: PolledOperation): Pick<OperationStanding, 'result' | 'account'> {
    const { id, kind, sealedResult, account, result } = polled;
    const sealed = sealedResult === null ? {} : this.shownOf(kind, id, sealedResult);
    const accountId = account === null ? {} : { accountId: account.id };
    return { result: { ...result, ...sealed, ...accountId }, ...(account === null ? {} : { account }) };
  }

  /** The key of a login, or the application key that an operation issued. */
  private shownOf(kind: OperationKind, id: string, sealedResult: string): object {
    if (kind === 'login') {
      const key = this.keys.keyOf(id, sealedResult);
      return key === undefined ? {} : { credential: { token: key.reveal() } };
    }
    const issued = this.seals.open('result', id, sealedResult);
    return issued === undefined ? {} : { api_key: JSON.parse(issued.reveal()) };
  }
}

/** An approved login whose key was revoked before anybody collected it. */
function isLost({ kind, state, deliveredAt, isKeyInForce }: PolledOperation): boolean {
  return kind === 'login' && state === 'completed' && deliveredAt === null && !isKeyInForce;
}

function bootstrapIsNotPolled(): GatewayError {
  return new GatewayError('invalid_request', {
    message: 'id: is the bootstrap of an account; send that request again instead.',
    reason: 'bootstrap_is_not_polled',
  });
}
