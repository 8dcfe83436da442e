import { Module } from '@nestjs/common';
import { DeviceKeyRetentionRepository } from './device-key-retention.repository.js';
import { DeviceKeyRetention } from './device-key-retention.service.js';

/** Old rows of `device_keys`, apart from those who register and check them, so that maintenance needs no service. */
@Module({ providers: [DeviceKeyRetention, DeviceKeyRetentionRepository], exports: [DeviceKeyRetention] })
export class DeviceKeyRetentionModule {}
