import { createHmac } from 'node:crypto';
import { GatewayTokens, type TokenHolder } from '../../../../src/client-auth/callers/gateway-tokens.js';
import { rawIssuer } from '../../apps/app-configs.js';
import { TEST_JWT_SECRET, type World } from '../../world.js';

const APP_ATTEST = { team_id: 'ABCDE12345', bundle_id: 'com.example.app' };

/** Authentication of the applications whose callers present gateway tokens. */
export const TOKEN_APPS = {
  installations: { type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest: APP_ATTEST },
  'users of an issuer on devices': {
    type: 'device_app_attest',
    end_user: { source: 'issuer', issuer: rawIssuer() },
    app_attest: APP_ATTEST,
  },
  'users of an issuer behind a backend': { type: 'api_key', end_user: { source: 'issuer', issuer: rawIssuer() } },
} as const;

/** A token of the running service, as an exchange would issue it. */
export function issueToken(world: World, holder: TokenHolder): Promise<string> {
  return world.gateway.app.get(GatewayTokens, { strict: false }).issue(holder);
}

/** A hand-made token: any header, any claims, signed with HMAC and SHA-256 whatever the header says. */
export function forgeToken(claims: object, { header = {}, secret = TEST_JWT_SECRET } = {}): string {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const whole = { auth_method: 'attest', sub: 'user-1', jti: 'j', iat: nowSeconds, exp: nowSeconds + 60, ...claims };
  const parts = [{ alg: 'HS256', typ: 'JWT', ...header }, whole];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
