import type { Schemas } from '../api/client';

/**
 * Parses pasted credentials: two keys on separate lines, or the key file of a service account, which the gateway
 * validates.
 */
export function sentCredentials(text: string): Schemas['PutPlayCredentialsRequest'] {
  const [decryption_key = '', verification_key, ...others] = text.trim().split(/\s+/);
  const isPair = verification_key !== undefined && others.length === 0 && !decryption_key.startsWith('{');
  return isPair ? { decryption_key, verification_key } : { service_account: text.trim() };
}
