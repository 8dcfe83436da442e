import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { DeviceAuthentication } from '../../app-directory/config/authentication-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { userBlocked } from '../../users/blocked-users.js';
import { UsersService } from '../../users/users.service.js';
import { ChallengesService } from '../devices/challenges.service.js';
import type { StoredDeviceKey } from '../devices/device-keys.repository.js';
import { DeviceKeysService } from '../devices/device-keys.service.js';
import { DeviceProofs } from '../devices/device-proofs.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { refuseApiKey } from './auth-modes.rules.js';
import { ExchangeInstallRequest, ExchangeUserDeviceRequest } from './dto/auth.request.js';
import { SignedInUser } from './signed-in-user.service.js';

const SHAPES = { issuer: ExchangeUserDeviceRequest, app_install: ExchangeInstallRequest };

type DeviceProof = ExchangeUserDeviceRequest | ExchangeInstallRequest;

/** Authenticates a registered device that exchanges an assertion for a gateway token. */
@Injectable()
export class DeviceExchangeService {
  constructor(
    private readonly signedIn: SignedInUser,
    private readonly challenges: ChallengesService,
    private readonly proofs: DeviceProofs,
    private readonly keys: DeviceKeysService,
    private readonly users: UsersService,
  ) {}

  /**
   * @param body as sent.
   * @returns the id of the device's user.
   * @throws auth_method_not_supported, invalid_request, issuer_*, auth_required (blocked), attest_failed; in this
   * order. An unknown key does not spend the challenge.
   */
  async prove(
    app: ReadableApp,
    authentication: DeviceAuthentication,
    body: object,
    attempt: AuthAttempt,
  ): Promise<string> {
    attempt.authMethod = 'attest';
    refuseApiKey(body);
    const { userId, proof } = await this.signedIn.claim(app, authentication, body, SHAPES, attempt);
    const key = await this.requireKey(app, authentication, userId, proof.key_id);
    const counter = await this.verified(app, authentication, proof, key);
    await this.keys.use(app, { userId, keyId: proof.key_id, challenge: proof.challenge, counter });
    attempt.userId = userId;
    const user = await this.users.seen(app, userId);
    if (user.status === 'blocked') throw userBlocked();
    await this.signedIn.recovered(app, userId, user.claimPendingSince, attempt);
    return userId;
  }

  /** The stored key, if the user may use it. */
  private async requireKey(
    app: ReadableApp,
    { app_attest }: DeviceAuthentication,
    userId: string,
    keyId: string,
  ): Promise<StoredDeviceKey> {
    const device = await this.keys.find(app, userId, keyId);
    if (device?.status === 'blocked') throw userBlocked();
    if (device?.key == null) throw new GatewayError('attest_failed', { reason: 'key_unknown' });
    if (app_attest.environments.includes(device.key.environment)) return device.key;
    throw new GatewayError('attest_failed', { reason: 'environment_not_allowed' });
  }

  /**
   * The counter of the assertion. An invalid assertion spends its challenge here; a valid one leaves it to `use`, which
   * spends the challenge and raises the counter in one step.
   */
  private async verified(
    app: ReadableApp,
    { app_attest }: DeviceAuthentication,
    proof: DeviceProof,
    { publicKey, counter }: StoredDeviceKey,
  ): Promise<number> {
    const { assertion, challenge, key_id: keyId } = proof;
    try {
      return this.proofs.verifyAssertion({
        appAttest: app_attest,
        appId: app.id,
        keyId,
        assertion,
        challenge,
        publicKey,
        counter,
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      await this.challenges.spend(app, challenge);
      throw error;
    }
  }
}
