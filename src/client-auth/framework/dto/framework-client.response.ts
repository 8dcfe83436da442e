import { ApiProperty } from '@nestjs/swagger';
import { GATEWAY_TOKEN_LIFETIME_SECONDS } from '../../callers/gateway-token.rules.js';
import { CHALLENGE_LIFETIME_SECONDS } from '../../devices/challenges.repository.js';
import type { PendingChallenge } from '../../devices/challenges.service.js';
import type { FrameworkToken } from '../framework-client.service.js';

export class FrameworkChallengeResponse {
  @ApiProperty({ type: 'string', description: 'base64url of 32 random bytes.' })
  challenge: string;

  @ApiProperty({ type: 'integer', description: 'Remaining seconds, at least 1.', example: CHALLENGE_LIFETIME_SECONDS })
  expires_in: number;

  static from({ challenge, remainingSeconds }: PendingChallenge): FrameworkChallengeResponse {
    return Object.assign(new FrameworkChallengeResponse(), { challenge, expires_in: remainingSeconds });
  }
}

export class FrameworkTokenResponse {
  @ApiProperty({ type: 'string', description: 'The credential of calls to providers; opaque.' })
  access_token: string;

  @ApiProperty({ type: 'integer', description: 'Seconds.', example: GATEWAY_TOKEN_LIFETIME_SECONDS })
  expires_in: number;

  @ApiProperty({ type: 'string', description: 'A challenge for the next token, instead of asking for one.' })
  next_challenge: string;

  @ApiProperty({ type: 'integer', description: 'Its remaining seconds.', example: CHALLENGE_LIFETIME_SECONDS })
  next_challenge_expires_in: number;

  static from({ token, lifetimeSeconds, next }: FrameworkToken): FrameworkTokenResponse {
    return Object.assign(new FrameworkTokenResponse(), {
      ...{ access_token: token, expires_in: lifetimeSeconds },
      ...{ next_challenge: next.challenge, next_challenge_expires_in: next.remainingSeconds },
    });
  }
}
