import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { NightlyRetention } from './nightly-retention.service.js';
import { RetentionModule } from './retention.module.js';

/** Schedules retention every night in a running service; `npm run maintenance` uses `RetentionModule` alone. */
@Module({ imports: [ScheduleModule.forRoot(), RetentionModule], providers: [NightlyRetention] })
export class NightlyRetentionModule {}
