import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import type { UnprovenMode } from '../callers/gateway-token.rules.js';
import { isChallengeRefusal } from '../devices/challenges.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { type DeviceApp, leniencyOf } from './auth-modes.rules.js';

/** An unproven device that gets a token. */
export interface UnprovenDevice {
  readonly userId: string;
  readonly authMethod: 'unproven';
  readonly unproven: UnprovenMode;
}

/**
 * Applies the mode of a failed proof: an identity that is not the user of any registered key. An invalid challenge is
 * refused in every mode; a failure of the gateway is not a failed proof.
 *
 * Source: docs/reference/application-api.md#modes-of-proofs.
 */
@Injectable()
export class UnprovenDevices {
  constructor(private readonly ids: Ids) {}

  /** Whether the device gets a token despite this error. */
  isAdmitted(device: DeviceApp, error: unknown, attempt: AuthAttempt): boolean {
    return modeFor(device, error, attempt) !== undefined;
  }

  /**
   * @param userId of the identity token, where users sign in; it becomes the user of the attempt.
   * @throws the error, if the mode of the proof refuses it.
   */
  admit(device: DeviceApp, userId: string, error: unknown, attempt: AuthAttempt): UnprovenDevice {
    const mode = modeFor(device, error, attempt);
    if (mode === undefined || !(error instanceof GatewayError)) throw error;
    attempt.failed = error;
    attempt.authMethod = 'unproven';
    if (device.end_user.source === 'app_install') {
      return { userId: `unproven:${this.ids.uuid()}`, authMethod: 'unproven', unproven: mode };
    }
    attempt.userId = userId;
    return { userId, authMethod: 'unproven', unproven: mode };
  }
}

function modeFor(device: DeviceApp, error: unknown, { proof }: AuthAttempt): UnprovenMode | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'attest_failed' || isChallengeRefusal(error)) return undefined;
  return leniencyOf(device, proof);
}
