import { Injectable, type Type } from '@nestjs/common';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { DeviceAuthentication } from '../../app-directory/config/authentication-config.js';
import type { IssuerConfig } from '../../app-directory/config/issuer-config.js';
import { errorText } from '../../common/errors/error-text.js';
import { readShape } from '../../common/fields/read-shape.js';
import { Log } from '../../common/log/log.js';
import { UsersService } from '../../users/users.service.js';
import { IssuerClaimsMissing } from '../issuers/issuer-token.rules.js';
import { IssuerTokens } from '../issuers/issuer-tokens.service.js';
import type { AuthAttempt } from './auth-attempts.js';

/** The proof of an installation. */
interface InstallProof {
  readonly key_id: string;
}

/** The proof of an issuer user's device. */
interface SignedInProof extends InstallProof {
  readonly issuer_token: string;
}

/** Authenticates the user of an identity token, and records the wait for required claims. */
@Injectable()
export class SignedInUser {
  constructor(
    private readonly tokens: IssuerTokens,
    private readonly users: UsersService,
    private readonly log: Log,
  ) {}

  /**
   * The user of a token. It sets the user and the groups of the attempt; the user also when a required claim is
   * missing.
   *
   * @throws issuer_token_rejected, issuer_claims_missing, issuer_verification_unavailable.
   */
  async prove(app: ReadableApp, issuer: IssuerConfig, token: string, attempt: AuthAttempt): Promise<string> {
    try {
      const { userId, groups } = await this.tokens.verify(token, issuer, app.limits?.groups);
      attempt.userId = userId;
      attempt.groups = groups;
      return userId;
    } catch (error) {
      if (error instanceof IssuerClaimsMissing) {
        attempt.userId = error.userId;
        await this.quietly(app, () => this.users.openClaimWindow(app, error.userId));
      }
      throw error;
    }
  }

  /**
   * The user of a device: an authenticated issuer user, or the installation itself, which its proof has yet to verify.
   *
   * @param body as sent.
   * @throws invalid_request; see {@link prove}.
   */
  async claim<U extends SignedInProof, I extends InstallProof>(
    app: ReadableApp,
    end_user: DeviceAuthentication['end_user'],
    body: object,
    shapes: { readonly issuer: Type<U>; readonly app_install: Type<I> },
    attempt: AuthAttempt,
  ): Promise<{ userId: string; proof: U | I }> {
    if (end_user.source === 'app_install') {
      const proof = readShape(shapes.app_install, body);
      return { userId: proof.key_id, proof };
    }
    const proof = readShape(shapes.issuer, body);
    return { userId: await this.prove(app, end_user.issuer, proof.issuer_token, attempt), proof };
  }

  /**
   * Ends the wait for a required claim after a success, if there was one.
   *
   * @param pendingSince the start of the wait; null without one.
   */
  async recovered(app: ReadableApp, userId: string, pendingSince: unknown, attempt: AuthAttempt): Promise<void> {
    if (pendingSince === null) return;
    await this.quietly(app, async () => {
      attempt.claimDelayMs = await this.users.closeClaimWindow(app, userId);
      if (attempt.claimDelayMs === null) return;
      this.log.event('claim_propagation_recovered', { appId: app.id, delayMs: attempt.claimDelayMs });
    });
  }

  /** Logs a failure instead of failing the request, because the wait is only a statistic. */
  private async quietly(app: ReadableApp, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log.event('claim_window_write_failed', {
        appId: app.id,
        error: errorText(error),
      });
    }
  }
}
