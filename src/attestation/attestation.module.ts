import { Module } from '@nestjs/common';
import { Log } from '../common/log/log.js';
import { Environment } from '../platform/config/environment.js';
import { AttestationRoots, attestationRootsOf } from './attestation-roots.js';
import { DeviceProofs } from './device-proofs.service.js';

/**
 * Proves that a caller is a genuine device with a genuine copy of the application.
 *
 * Tables: none. Routes: none. Codes: attest_failed. Log lines: app_attest_root_replaced.
 */
@Module({
  providers: [DeviceProofs, { provide: AttestationRoots, inject: [Environment, Log], useFactory: attestationRootsOf }],
  exports: [DeviceProofs],
})
export class AttestationModule {}
