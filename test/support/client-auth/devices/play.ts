import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { CompactEncrypt, CompactSign } from 'jose';
import { PACKAGE_NAME, SIGNING_CERTIFICATE } from './android.js';

/** `play_integrity` of an application for the simulated vendor. */
export function playIntegrity(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { package_name: PACKAGE_NAME, require: ['MEETS_DEVICE_INTEGRITY'], decode: 'local', ...changes };
}

/** Members of a payload, which a test may break. */
// biome-ignore lint/suspicious/noExplicitAny: a test breaks members of a payload that has no type
export type Payload = Record<string, any>;

/** How a token differs from a genuine one. */
export interface TokenChanges {
  readonly payload?: (payload: Payload) => void;
  /** Replaces the JSON text. */
  readonly text?: string;
  readonly signedBy?: KeyObject;
  readonly signedWith?: 'ES256' | 'ES384' | 'HS256';
  readonly decryption?: Buffer;
  readonly keyWrap?: 'A256KW' | 'A128KW' | 'dir';
  readonly encryption?: 'A256GCM' | 'A128GCM';
}

/** The payload of a genuine token. */
export function genuinePayload(requestHash: string, atMs: number): Payload {
  return {
    requestDetails: { requestPackageName: PACKAGE_NAME, requestHash, timestampMillis: String(atMs) },
    appIntegrity: {
      ...{ appRecognitionVerdict: 'PLAY_RECOGNIZED', packageName: PACKAGE_NAME, versionCode: '42' },
      certificateSha256Digest: [Buffer.from(SIGNING_CERTIFICATE, 'hex').toString('base64url')],
    },
    deviceIntegrity: {
      deviceRecognitionVerdict: ['MEETS_BASIC_INTEGRITY', 'MEETS_DEVICE_INTEGRITY'],
      recentDeviceActivity: { deviceActivityLevel: 'LEVEL_2' },
    },
    accountDetails: { appLicensingVerdict: 'LICENSED' },
    environmentDetails: { playProtectVerdict: 'NO_ISSUES' },
  };
}

/** The vendor of integrity tokens of one application, with the response keys that its owner can download. */
export class PlayVendor {
  readonly decryption = randomBytes(32);
  readonly signing = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  /** In the format of Play Console. */
  get credentials() {
    const spki = this.signing.publicKey.export({ type: 'spki', format: 'der' });
    return { decryption_key: this.decryption.toString('base64'), verification_key: spki.toString('base64') };
  }

  /** A token about this hash. @param atMs milliseconds since the epoch. */
  async token(requestHash: string, atMs: number, changes: TokenChanges = {}): Promise<string> {
    const payload = genuinePayload(requestHash, atMs);
    changes.payload?.(payload);
    const text = changes.text ?? JSON.stringify(payload);
    const { signedWith = 'ES256', signedBy = this.signing.privateKey } = changes;
    const signed = await new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: signedWith }).sign(signedBy);
    const { keyWrap = 'A256KW', encryption = 'A256GCM', decryption = this.decryption } = changes;
    return new CompactEncrypt(Buffer.from(signed))
      .setProtectedHeader({ alg: keyWrap, enc: encryption })
      .encrypt(decryption);
  }
}

/** One installation with its own key, unknown to any vendor. */
export class PlayDevice {
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly publicKey = this.keys.publicKey.export({ type: 'spki', format: 'der' });
  readonly keyId = createHash('sha256').update(this.publicKey.subarray(-65)).digest('base64');

  /** The text that a token is bound to, and that exchanges sign. */
  text(appId: string, challenge: string): string {
    return `{"app":"${appId}","challenge":"${challenge}","key_id":"${this.keyId}"}`;
  }

  requestHash(appId: string, challenge: string): string {
    return createHash('sha256').update(this.text(appId, challenge)).digest('base64url');
  }

  sign(appId: string, challenge: string, text = this.text(appId, challenge)): string {
    return sign('sha256', Buffer.from(text), this.keys.privateKey).toString('base64');
  }
}
