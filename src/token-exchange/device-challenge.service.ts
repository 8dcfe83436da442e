import { Injectable } from '@nestjs/common';
import { AppDirectoryService } from '../app-directory/app-directory.service.js';
import { requireActive } from '../app-directory/app-snapshot.js';
import { ChallengesService } from '../attestation/challenges.service.js';
import { requireDeviceApp } from './auth-modes.rules.js';

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
