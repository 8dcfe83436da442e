/** An identity provider on the loopback: one RS256 key, published over HTTP, and tokens signed with it. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';

const HEADER = encoded({ alg: 'RS256', kid: 'bench', typ: 'JWT' });
const LIFETIME_SECONDS = 3_600;
const RSA_BITS = 2_048;

/** @returns `{ endUser, tokenOf }`: the `end_user` of an application, and `tokenOf(userId)` */
export async function startIdentityProvider() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: RSA_BITS });
  const keySet = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256' }] });
  const server = http.createServer((_request, response) => response.end(keySet));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    endUser: endUserOf(url),
    tokenOf(userId) {
      const now = Math.floor(Date.now() / 1e3);
      const claims = { iss: url, aud: 'bench', sub: userId, iat: now, exp: now + LIFETIME_SECONDS };
      const signed = `${HEADER}.${encoded(claims)}`;
      return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
    },
  };
}

/** `end_user` of an application whose users sign in at `url`. */
export function endUserOf(url) {
  const issuer = {
    jwks_url: `${url}/jwks.json`,
    issuer: url,
    audience: 'bench',
    user_id_claim: 'sub',
    required_claims: [],
    max_token_lifetime_seconds: LIFETIME_SECONDS,
  };
  return { source: 'issuer', issuer };
}

function encoded(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
