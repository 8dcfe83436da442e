import { Module } from '@nestjs/common';
import { Log } from '../../common/log/log.js';
import { Environment } from '../../platform/config/environment.js';
import { UsersModule } from '../../users/users.module.js';
import { AndroidRoots, androidRootsOf } from './android/android-roots.js';
import { KeyAttestations } from './android/key-attestations.service.js';
import { KeyRevocations } from './android/key-revocations.service.js';
import { RevocationListRepository } from './android/revocation-list.repository.js';
import { RevocationListReader } from './android/revocation-list-reader.service.js';
import { AttestationRoots, attestationRootsOf } from './attestation-roots.js';
import { ChallengesRepository } from './challenges.repository.js';
import { ChallengesService } from './challenges.service.js';
import { DeviceKeysRepository } from './device-keys.repository.js';
import { DeviceKeysService } from './device-keys.service.js';
import { DeviceProofs } from './device-proofs.service.js';

/**
 * Device attestation: verifies that a caller is a genuine device with a genuine copy of the application, by challenges,
 * attestations, assertions and device keys.
 *
 * Tables: auth_challenges, device_keys, android_revocation_list, android_revoked_serials; reads app_users, apps. Routes:
 * none. Codes: attest_failed, app_version_too_old. Log lines: app_attest_root_replaced,
 * android_attestation_roots_replaced, android_revocation_list_failed.
 */
@Module({
  imports: [UsersModule],
  providers: [
    ChallengesRepository,
    ChallengesService,
    DeviceKeysRepository,
    DeviceKeysService,
    DeviceProofs,
    KeyAttestations,
    KeyRevocations,
    RevocationListReader,
    RevocationListRepository,
    { provide: AndroidRoots, inject: [Environment, Log], useFactory: androidRootsOf },
    { provide: AttestationRoots, inject: [Environment, Log], useFactory: attestationRootsOf },
  ],
  exports: [ChallengesService, DeviceKeysService, DeviceProofs, KeyAttestations, KeyRevocations],
})
export class AttestationModule {}
