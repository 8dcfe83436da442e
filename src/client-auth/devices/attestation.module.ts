import { Module } from '@nestjs/common';
import { AccessModule } from '../../accounts/access/access.module.js';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
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
import { GoogleAccessTokens } from './play/google-access-tokens.js';
import { IntegrityTokens } from './play/integrity-tokens.service.js';
import { PlayCredentialsController } from './play/play-credentials.controller.js';
import { PlayCredentialsRepository } from './play/play-credentials.repository.js';
import { PlayCredentialsService } from './play/play-credentials.service.js';
import { PlayIntegrityProofs } from './play/play-integrity.service.js';

/**
 * Device attestation: verifies that a caller is a genuine device with a genuine copy of the application, by challenges,
 * attestations, assertions and device keys.
 *
 * Tables: auth_challenges, device_keys, android_revocation_list, android_revoked_serials, play_credentials; reads
 * app_users, apps. Routes: `/v1/admin/apps/{app}/play-integrity/credentials`. Codes: attest_failed,
 * app_version_too_old. Log lines: app_attest_root_replaced, android_attestation_roots_replaced,
 * android_revocation_list_failed, play_integrity_failed.
 */
@Module({
  imports: [AccessModule, AppDirectoryModule, UsersModule],
  controllers: [PlayCredentialsController],
  providers: [
    ChallengesRepository,
    ChallengesService,
    DeviceKeysRepository,
    DeviceKeysService,
    DeviceProofs,
    GoogleAccessTokens,
    IntegrityTokens,
    KeyAttestations,
    KeyRevocations,
    PlayCredentialsRepository,
    PlayCredentialsService,
    PlayIntegrityProofs,
    RevocationListReader,
    RevocationListRepository,
    { provide: AndroidRoots, inject: [Environment, Log], useFactory: androidRootsOf },
    { provide: AttestationRoots, inject: [Environment, Log], useFactory: attestationRootsOf },
  ],
  exports: [ChallengesService, DeviceKeysService, DeviceProofs, KeyAttestations, KeyRevocations, PlayIntegrityProofs],
})
export class AttestationModule {}
