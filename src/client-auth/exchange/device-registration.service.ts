import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../../app-directory/app-directory.service.js';
import { type ReadableApp, requireActive } from '../../app-directory/app-snapshot.js';
import type { Instant } from '../../common/clock.js';
import { userBlocked } from '../../users/blocked-users.js';
import { UsersService } from '../../users/users.service.js';
import { METHOD_OF_PROOF } from '../callers/gateway-token.rules.js';
import { KeyAttestations } from '../devices/android/key-attestations.service.js';
import { ChallengesService } from '../devices/challenges.service.js';
import { type DeviceFacts, requireFacts } from '../devices/device-facts.rules.js';
import type { ProvenKey } from '../devices/device-keys.repository.js';
import { DeviceKeysService } from '../devices/device-keys.service.js';
import { DeviceProofs } from '../devices/device-proofs.service.js';
import { PlayIntegrityProofs } from '../devices/play/play-integrity.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { type DeviceApp, proofNamed, requireClaimedVersion, requireDeviceApp } from './auth-modes.rules.js';
import type { AdmittedDevice } from './device-exchange.service.js';
import {
  RegisterAndroidInstallRequest,
  RegisterAndroidUserDeviceRequest,
  RegisterInstallRequest,
  RegisterPlayInstallRequest,
  RegisterPlayUserDeviceRequest,
  RegisterUserDeviceRequest,
} from './dto/auth.request.js';
import { SignedInUser } from './signed-in-user.service.js';
import { UnprovenDevices } from './unproven-devices.service.js';

const SHAPES = {
  app_attest: { issuer: RegisterUserDeviceRequest, app_install: RegisterInstallRequest },
  key_attestation: { issuer: RegisterAndroidUserDeviceRequest, app_install: RegisterAndroidInstallRequest },
  play_integrity: { issuer: RegisterPlayUserDeviceRequest, app_install: RegisterPlayInstallRequest },
};

type AppleProof = RegisterUserDeviceRequest | RegisterInstallRequest;
type AndroidProof = RegisterAndroidUserDeviceRequest | RegisterAndroidInstallRequest;
type PlayProof = RegisterPlayUserDeviceRequest | RegisterPlayInstallRequest;
type RegistrationProof = AppleProof | AndroidProof | PlayProof;

/** Verifies registrations of devices, by the kind of their proof. */
@Injectable()
export class RegistrationProofs {
  constructor(
    private readonly appAttest: DeviceProofs,
    private readonly keyAttestation: KeyAttestations,
    private readonly playIntegrity: PlayIntegrityProofs,
  ) {}

  /**
   * @param spentAt when the challenge was spent.
   * @param attempt receives the facts of the proof.
   * @throws attest_failed, app_version_too_old; service_unavailable, internal_error.
   */
  async verify(
    app: ReadableApp,
    { proofs }: DeviceApp,
    sent: RegistrationProof,
    spentAt: Instant,
    attempt: AuthAttempt,
  ): Promise<ProvenKey> {
    const { key_id: keyId, challenge } = sent;
    const noteFacts = (facts: DeviceFacts) => {
      attempt.facts = facts;
    };
    if (proofs.key_attestation !== undefined && 'certificate_chain' in sent) {
      const about = { policy: proofs.key_attestation, keyId, challenge, spentAt, noteFacts };
      const key = await this.keyAttestation.verify({ ...about, certificateChain: sent.certificate_chain });
      return { ...key, keyId, proof: 'key_attestation', environment: null, receipt: null };
    }
    if (proofs.play_integrity !== undefined && 'integrity_token' in sent) {
      const about = { app, policy: proofs.play_integrity, keyId, challenge, spentAt, noteFacts };
      const { public_key: publicKey, integrity_token: integrityToken } = sent;
      const key = await this.playIntegrity.verify({ ...about, publicKey, integrityToken });
      return { ...key, keyId, proof: 'play_integrity', environment: null, serials: [], receipt: null };
    }
    if (proofs.app_attest === undefined || !('attestation' in sent)) throw new TypeError('no known proof was sent');
    const about = { appAttest: proofs.app_attest, keyId, challenge, spentAt };
    const key = await this.appAttest.verifyAttestation({ ...about, attestation: sent.attestation });
    attempt.facts = key.facts;
    requireFacts(key.facts, proofs);
    return { ...key, keyId, proof: 'app_attest', environment: key.facts.environment, serials: [] };
  }
}

/** Registers devices: authenticates the user, spends the challenge, verifies the proof. */
@Injectable()
export class DeviceRegistrationService {
  constructor(
    private readonly signedIn: SignedInUser,
    private readonly users: UsersService,
    private readonly challenges: ChallengesService,
    private readonly proofs: RegistrationProofs,
    private readonly keys: DeviceKeysService,
    private readonly unproven: UnprovenDevices,
  ) {}

  /**
   * @param body as sent.
   * @returns the key's user; for a failed proof, if its mode allows that, an identity without a key.
   * @throws auth_method_not_supported, invalid_request, issuer_*, app_version_too_old (as claimed), auth_required
   * (blocked), attest_failed; in this order. The first ones do not spend the challenge.
   */
  async register(app: ReadableApp, body: object, attempt: AuthAttempt): Promise<AdmittedDevice> {
    const device = requireDeviceApp(app);
    const named = proofNamed(device, body) ?? 'app_attest';
    attempt.authMethod = METHOD_OF_PROOF[named];
    attempt.proof = named;
    const { userId, proof } = await this.claim(app, device, body, named, attempt);
    requireClaimedVersion(device, attempt);
    if ((await this.users.find(app, userId))?.status === 'blocked') throw userBlocked();
    const spentAt = await this.challenges.spend(app, proof.challenge);
    let key: ProvenKey;
    try {
      key = await this.proofs.verify(app, device, proof, spentAt, attempt);
    } catch (error) {
      return this.unproven.admit(device, userId, error, attempt);
    }
    attempt.userId = userId;
    const user = await this.keys.register(app, { ...key, userId });
    if (user.status === 'blocked') throw userBlocked();
    await this.signedIn.recovered(app, userId, user.claimPendingSince, attempt);
    return { userId, authMethod: METHOD_OF_PROOF[named] };
  }

  private claim(
    app: ReadableApp,
    { end_user }: DeviceApp,
    body: object,
    named: keyof typeof SHAPES,
    attempt: AuthAttempt,
  ): Promise<{ userId: string; proof: RegistrationProof }> {
    switch (named) {
      case 'app_attest':
        return this.signedIn.claim(app, end_user, body, SHAPES.app_attest, attempt);
      case 'key_attestation':
        return this.signedIn.claim(app, end_user, body, SHAPES.key_attestation, attempt);
      case 'play_integrity':
        return this.signedIn.claim(app, end_user, body, SHAPES.play_integrity, attempt);
    }
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
