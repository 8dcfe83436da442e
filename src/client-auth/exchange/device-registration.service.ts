import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { type ReadableApp, requireActive } from '../../app-directory/app-snapshot.js';
import { userBlocked } from '../../users/blocked-users.js';
import { UsersService } from '../../users/users.service.js';
import { ChallengesService } from '../devices/challenges.service.js';
import { DeviceKeysService } from '../devices/device-keys.service.js';
import { DeviceProofs } from '../devices/device-proofs.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { requireDeviceApp } from './auth-modes.rules.js';
import { RegisterInstallRequest, RegisterUserDeviceRequest } from './dto/auth.request.js';
import { SignedInUser } from './signed-in-user.service.js';

const SHAPES = { issuer: RegisterUserDeviceRequest, app_install: RegisterInstallRequest };

/** Registers devices: authenticates the user, spends the challenge, verifies the attestation. */
@Injectable()
export class DeviceRegistrationService {
  constructor(
    private readonly signedIn: SignedInUser,
    private readonly users: UsersService,
    private readonly challenges: ChallengesService,
    private readonly proofs: DeviceProofs,
    private readonly keys: DeviceKeysService,
  ) {}

  /**
   * @param body as sent.
   * @returns the id of the key's user.
   * @throws auth_method_not_supported, invalid_request, issuer_*, auth_required (blocked), attest_failed; in this
   * order. The challenge of a blocked user is not spent.
   */
  async register(app: ReadableApp, body: object, attempt: AuthAttempt): Promise<string> {
    const authentication = requireDeviceApp(app);
    attempt.authMethod = 'attest';
    const { userId, proof } = await this.signedIn.claim(app, authentication, body, SHAPES, attempt);
    if ((await this.users.find(app, userId))?.status === 'blocked') throw userBlocked();
    const spentAt = await this.challenges.spend(app, proof.challenge);
    const { publicKey, environment } = await this.proofs.verifyAttestation({
      appAttest: authentication.app_attest,
      keyId: proof.key_id,
      attestation: proof.attestation,
      challenge: proof.challenge,
      spentAt,
    });
    attempt.userId = userId;
    const user = await this.keys.register(app, { keyId: proof.key_id, userId, publicKey, environment });
    if (user.status === 'blocked') throw userBlocked();
    await this.signedIn.recovered(app, userId, user.claimPendingSince, attempt);
    return userId;
  }
}

/** Issues challenges to devices. */
@Injectable()
export class DeviceChallengeService {
  constructor(
    private readonly apps: AppDirectoryService,
    private readonly challenges: ChallengesService,
  ) {}

  /**
   * A challenge of the application.
   *
   * @throws app_not_found, app_disabled, auth_method_not_supported; in this order.
   */
  async issue(appId: string): Promise<string> {
    const app = requireActive(await this.apps.find(appId));
    requireDeviceApp(app);
    return this.challenges.issue(app);
  }
}
