import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { PROOF, provesHash } from '../../common/proof-hash.rules.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { CountedOnce } from '../../platform/address-limits/once-per-request.js';
import type { BrowserClient } from '../../sign-in/browser-sessions.service.js';
import { shownUserCode, typedUserCode } from '../operations/operation.rules.js';
import { OperationSeals } from '../operations/operation-seals.js';
import { type OperationRow, OperationsRepository } from '../operations/operations.repository.js';

/** All wrong codes of the deployment are counted together. */
const ALL_ADDRESSES = 'all';

/** The source of attempted user codes. */
export type CodeTyper = Pick<BrowserClient, 'address'>;

/**
 * User codes, which a person types instead of following the link of a login. Wrong ones are limited, for one address
 * and in total.
 *
 * Source: docs/reference/management-api.md#terminal-login.
 */
@Injectable()
export class UserCodes {
  readonly #counted = new CountedOnce();

  constructor(
    private readonly operations: OperationsRepository,
    private readonly seals: OperationSeals,
    private readonly limits: AddressLimits,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * The pending login of a typed code. Look-ups are limited for each address by the route, wrong codes by
   * `user_code_wrong`.
   *
   * @returns `undefined` for a wrong code, and for one whose login has ended.
   * @throws rate_limited
   */
  async lookup(typed: string, typer: CodeTyper): Promise<OperationRow | undefined> {
    await this.requireOpen(typer);
    const code = typedUserCode(typed);
    const found = code && (await this.operations.findByUserCode(this.seals.userCodeMacs(code), this.clock.now()));
    if (found === undefined) await this.countWrong(typer);
    return found;
  }

  /**
   * Whether a submission is the proof of the operation's link, or the user code of a login.
   *
   * @throws rate_limited too many wrong user codes, from this address or in total.
   */
  async isProof(operation: OperationRow, submission: Secret, typer: CodeTyper): Promise<boolean> {
    const { kind, proofHash, userCodeMac } = operation;
    if (kind !== 'login' || PROOF.test(submission.reveal())) return provesHash(submission, proofHash);
    await this.requireOpen(typer);
    const code = typedUserCode(submission.reveal());
    const isCode =
      code !== undefined &&
      userCodeMac !== null &&
      this.seals.userCodeMacs(code).some((mac) => timingSafeEqual(Buffer.from(mac), Buffer.from(userCodeMac)));
    if (!isCode) await this.#counted.once(submission, () => this.countWrong(typer));
    return isCode;
  }

  /** The code that a pending login shows, also to the approval page. */
  shownFor({ id, sealedUserCode }: OperationRow): string | null {
    const code = sealedUserCode === null ? undefined : this.seals.open('user code', id, sealedUserCode);
    return code === undefined ? null : shownUserCode(code);
  }

  /** @throws rate_limited as `requireOpen`, from the first code beyond a limit on. */
  private async countWrong({ address }: CodeTyper): Promise<void> {
    await this.limits.admit('user_code_wrong', { subject: address ?? '' });
    await this.limits.admit('user_code_total', { subject: ALL_ADDRESSES });
  }

  /** @throws rate_limited so many wrong codes were typed, from this address or in total, that no code is accepted. */
  private async requireOpen({ address }: CodeTyper): Promise<void> {
    await this.limits.requireRoom('user_code_wrong', { subject: address ?? '' });
    try {
      await this.limits.requireRoom('user_code_total', { subject: ALL_ADDRESSES });
    } catch (error) {
      if (error instanceof GatewayError) {
        this.log.event('user_codes_refused', { retryAfterSeconds: error.retryAfterSeconds ?? 0 });
      }
      throw error;
    }
  }
}
