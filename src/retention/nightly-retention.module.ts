import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { NightlyRetention } from './nightly-retention.service.js';
import { RetentionModule } from './retention.module.js';

/** The same, every night: for a service that runs, not for `npm run maintenance`. */
@Module({ imports: [ScheduleModule.forRoot(), RetentionModule], providers: [NightlyRetention] })
export class NightlyRetentionModule {}
