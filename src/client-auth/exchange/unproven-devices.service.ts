import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import type { UnprovenMode } from '../callers/gateway-token.rules.js';
import { isChallengeRefusal } from '../devices/challenges.service.js';
import type { AuthAttempt } from './auth-attempts.js';
import { type DeviceApp, leniencyOf } from './auth-modes.rules.js';

/** A device that proved nothing, and gets a token all the same. */
export interface UnprovenDevice {
  readonly userId: string;
  readonly authMethod: 'unproven';
  readonly unproven: UnprovenMode;
}

/**
 * Gives a failed proof what its mode allows: an identity that is no registered key's user. A challenge that is not in
 * force is refused in every mode; a failure of the gateway is no failed proof.
 *
 * Source: docs/reference/application-api.md#modes-of-proofs.
 */
@Injectable()
export class UnprovenDevices {
  constructor(private readonly ids: Ids) {}

  /** Whether this error gets a token. */
  isAdmitted(device: DeviceApp, error: unknown, attempt: AuthAttempt): boolean {
    return modeFor(device, error, attempt) !== undefined;
  }

  /**
   * @param userId of the identity token, where users sign in; it becomes the user of the attempt.
   * @throws the error, where the mode of the proof refuses it.
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
