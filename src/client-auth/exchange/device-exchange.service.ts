import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import type { ProofName } from '../../app-directory/config/device-proofs-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { userBlocked } from '../../users/blocked-users.js';
import { UsersService } from '../../users/users.service.js';
import { METHOD_OF_PROOF, type UnprovenMode } from '../callers/gateway-token.rules.js';
import { KeyRevocations } from '../devices/android/key-revocations.service.js';
import { ChallengesService } from '../devices/challenges.service.js';
import { requireFacts } from '../devices/device-facts.rules.js';
import type { StoredDeviceKey } from '../devices/device-keys.repository.js';
import { DeviceKeysService } from '../devices/device-keys.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import {
  type DeviceApp,
  proofNamed,
  refuseApiKey,
  requireClaimedVersion,
  requireDeviceApp,
} from './auth-modes.rules.js';
import {
  ExchangeInstallRequest,
  ExchangeSignedInstallRequest,
  ExchangeSignedUserDeviceRequest,
  ExchangeUserDeviceRequest,
} from './dto/auth.request.js';
import { ExchangeProofs, requireKeyOf, type UsedKey } from './exchange-proofs.js';
import { SignedInUser } from './signed-in-user.service.js';
import { UnprovenDevices } from './unproven-devices.service.js';

const ASSERTED = { issuer: ExchangeUserDeviceRequest, app_install: ExchangeInstallRequest };
const SIGNED = { issuer: ExchangeSignedUserDeviceRequest, app_install: ExchangeSignedInstallRequest };

type AssertedProof = ExchangeUserDeviceRequest | ExchangeInstallRequest;
type SignedProof = ExchangeSignedUserDeviceRequest | ExchangeSignedInstallRequest;

/** An authenticated device, or one that its mode admits without a proof. */
export interface AdmittedDevice {
  readonly userId: string;
  readonly authMethod: NonNullable<AuthAttempt['authMethod']>;
  readonly unproven?: UnprovenMode;
}

/** The proof that a device sent, and its user. */
interface ClaimedProof {
  readonly userId: string;
  readonly proof: AssertedProof | SignedProof;
  /** The proof that the request names. */
  readonly named: ProofName | undefined;
}

/** Authenticates a registered device that exchanges an assertion or a signature for a gateway token. */
@Injectable()
export class DeviceExchangeService {
  constructor(
    private readonly signedIn: SignedInUser,
    private readonly challenges: ChallengesService,
    private readonly proofs: ExchangeProofs,
    private readonly revocations: KeyRevocations,
    private readonly keys: DeviceKeysService,
    private readonly users: UsersService,
    private readonly unproven: UnprovenDevices,
  ) {}

  /**
   * @param body as sent.
   * @throws auth_method_not_supported, invalid_request, issuer_*, app_version_too_old (as claimed), auth_required
   * (blocked), attest_failed; in this order. An unknown key, and a revoked one, does not spend the challenge.
   */
  async prove(app: ReadableApp, body: object, attempt: AuthAttempt): Promise<AdmittedDevice> {
    const device = requireDeviceApp(app);
    attempt.authMethod = device.isProofNamed ? null : METHOD_OF_PROOF.app_attest;
    refuseApiKey(body);
    // Without a named proof, a signature means that there is no assertion.
    const named = proofNamed(device, body) ?? (Object.hasOwn(body, 'signature') ? undefined : 'app_attest');
    if (named !== undefined) attempt.authMethod = METHOD_OF_PROOF[named];
    attempt.proof = named ?? null;
    const claimed = { ...(await this.claim(app, device, body, named, attempt)), named };
    requireClaimedVersion(device, attempt);
    const admitted = await this.admitted(app, device, claimed, attempt);
    const { userId } = admitted;
    if (attempt.failed !== undefined && device.end_user.source === 'app_install') return admitted;
    attempt.userId = userId;
    const user = await this.users.seen(app, userId);
    if (user.status === 'blocked') throw userBlocked();
    await this.signedIn.recovered(app, userId, user.claimPendingSince, attempt);
    return admitted;
  }

  /**
   * The device, authenticated by its proof; for a failed one, the result that its mode allows. The challenge is spent
   * in every case.
   */
  private async admitted(
    app: ReadableApp,
    device: DeviceApp,
    claimed: ClaimedProof,
    attempt: AuthAttempt,
  ): Promise<AdmittedDevice> {
    const { userId, proof } = claimed;
    let isSpent = false;
    try {
      const key = await this.acceptedKey(app, device, claimed, attempt);
      // The challenge is already spent if anything fails from here on.
      isSpent = true;
      const used = await this.verified(app, device, proof, key, attempt);
      await this.keys.use(app, { userId, keyId: proof.key_id, challenge: proof.challenge, ...used });
      return { userId, authMethod: METHOD_OF_PROOF[key.proof] };
    } catch (error) {
      if (!isSpent && this.unproven.isAdmitted(device, error, attempt)) {
        await this.challenges.spend(app, proof.challenge);
      }
      return this.unproven.admit(device, userId, error, attempt);
    }
  }

  /** The stored key, if the current configuration accepts it. */
  private async acceptedKey(
    app: ReadableApp,
    device: DeviceApp,
    { userId, proof, named }: ClaimedProof,
    attempt: AuthAttempt,
  ): Promise<StoredDeviceKey> {
    const key = await this.requireKey(app, userId, proof.key_id);
    attempt.authMethod ??= METHOD_OF_PROOF[key.proof];
    attempt.proof ??= key.proof;
    attempt.facts = key.facts;
    requireKeyOf(device, key, named, 'signature' in proof);
    if (key.serials.length > 0) await this.revocations.requireUnrevoked(key.serials);
    return key;
  }

  private claim(
    app: ReadableApp,
    { end_user }: DeviceApp,
    body: object,
    named: ProofName | undefined,
    attempt: AuthAttempt,
  ): Promise<{ userId: string; proof: AssertedProof | SignedProof }> {
    return named === 'app_attest'
      ? this.signedIn.claim(app, end_user, body, ASSERTED, attempt)
      : this.signedIn.claim(app, end_user, body, SIGNED, attempt);
  }

  /** The stored key, if the user may use it. */
  private async requireKey(app: ReadableApp, userId: string, keyId: string): Promise<StoredDeviceKey> {
    const device = await this.keys.find(app, userId, keyId);
    if (device?.status === 'blocked') throw userBlocked();
    if (device?.key == null) throw new GatewayError('attest_failed', { reason: 'key_unknown' });
    return device.key;
  }

  /**
   * The changes of the key by the proof. An invalid proof, and one whose facts the configuration refuses, spends its
   * challenge here; a valid one leaves it to `use`, which spends the challenge and raises the counter in one step.
   */
  private async verified(
    app: ReadableApp,
    device: DeviceApp,
    proof: AssertedProof | SignedProof,
    key: StoredDeviceKey,
    attempt: AuthAttempt,
  ): Promise<UsedKey> {
    try {
      const used = this.proofs.verify(app.id, device, proof, key, attempt.isFrameworkClient);
      attempt.facts = used.facts;
      requireFacts(used.facts, device.proofs);
      return used;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      await this.challenges.spend(app, proof.challenge);
      throw error;
    }
  }
}
