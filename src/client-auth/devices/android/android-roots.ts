import { createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Log } from '../../../common/log/log.js';
import { type Environment, EnvironmentError } from '../../../platform/config/environment.js';
import type { AndroidRoot } from './android-chain.rules.js';

/**
 * The public keys of the vendor's roots of key attestation, SPKI in base64.
 *
 * Source: docs/reference/security.md#android-key-attestation.
 */
const VENDOR_ANDROID_KEYS: Readonly<Record<string, string>> = {
  'serialNumber=f92009e853b6b045':
    'MIICIjANBgkqhkiG9w0BAQEFAAOCAg8AMIICCgKCAgEAr7bHgiuxpwHsK7Qui8xUFmOr75gvMsd/dTEDDJdSSxtf6An7xyqpRR90' +
    'PL2abxM1dEqlXnf2tqw1Ne4Xwl5jlRfdnJLmN0pTy/4lj4/7tv0Sk3iiKkypnEUtR6WfMgH0QZfKHM1+di+y9TFRtv6y//0rb+T+' +
    'W8a9nsNL/ggjnar86461qO0rOs2cXjp3kOG1FEJ5MVmFmBGtnrKpa73XpXyTqRxB/M0n1n/W9nGqC4FSYa04T6N5RIZGBN2z2MT5' +
    'IKGbFlbC8UrW0DxW7AYImQQcHtGl/m00QLVWutHQoVJYnFPlXTcHYvASLu+RhhsbDmxMgJJ0mcDpvsC4PjvB+TxywElgS70vE0Xm' +
    'LD+OJtvsBslHZvPBKCOdT0MS+tgSOIfga+z1Z1g7+DVagf7quvmag8jfPioyKvxnK/EgsTUVi2ghzq8wm27ud/mIM7AY2qEORR8G' +
    'o3TVB4HzWQgpZrt3i5MIlCaY504LzSRiigHCzAPlHws+W0rB5N+er5/2pJKnfBSDiCiFAVtCLOZ7gLiMm0jhO2B6tUXHI/+MRPjy' +
    '02i59lINMRRev56GKtcd9qO/0kUJWdZTdA2XoS82ixPvZtXQpUpuL12ab+9EaDK8Z4RHJYYfCT3Q5vNAXaiWQ+8PTWm2QgBR/bkw' +
    'SWc+NpUFgNPN9PvQi8WEg5UmAGMCAwEAAQ==',
  'CN=Key Attestation CA1, OU=Android, O=Google LLC, C=US':
    'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEI9ojcU7fPlsFCjxy6IRqzgeOoK0b+YsV9FPQywiyw8EQRTkJ9u3qwfnI4DGoSLlBqClT' +
    'XJfgfCcZvs60FikNMHnu4fkRzObfgDkU2KNXezT9/RQ+XvNslxPHrHCowhGr',
};

const PEM_START = '-----BEGIN CERTIFICATE-----';
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The trust anchors of Android key attestation; a chain must end in the key of one of them. */
export class AndroidRoots {
  constructor(readonly roots: readonly AndroidRoot[]) {}
}

/**
 * The vendor's roots, or the operator's certificates in their place (`ANDROID_ATTESTATION_ROOTS_FILE`). It runs at
 * startup, which fails if the file is invalid.
 *
 * @throws EnvironmentError naming the variable.
 */
export function androidRootsOf(environment: Environment, log: Log): AndroidRoots {
  const file = environment.ANDROID_ATTESTATION_ROOTS_FILE;
  if (file === undefined) return new AndroidRoots(vendorRoots());
  let roots: readonly AndroidRoot[];
  try {
    roots = readAndroidRoots(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new EnvironmentError(
      'ANDROID_ATTESTATION_ROOTS_FILE must be a readable PEM file of at least one certificate',
      { cause: error },
    );
  }
  log.event('android_attestation_roots_replaced', { file, subjects: roots.map(({ subject }) => subject).join('; ') });
  return new AndroidRoots(roots);
}

function vendorRoots(): readonly AndroidRoot[] {
  return Object.entries(VENDOR_ANDROID_KEYS).map(([subject, base64]) => {
    const spki = Buffer.from(base64, 'base64');
    return { subject, spki, key: createPublicKey({ key: spki, format: 'der', type: 'spki' }) };
  });
}

/**
 * Reads all certificates of a PEM text; text between them is skipped.
 *
 * @returns at least one.
 * @throws Error for no certificate or an unreadable one.
 */
export function readAndroidRoots(pem: string): readonly AndroidRoot[] {
  const blocks = pem.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0 || blocks.length < pem.split(PEM_START).length - 1) throw new TypeError('not certificates');
  return blocks.map((block) => {
    const { subject, publicKey } = new X509Certificate(block);
    const spki = publicKey.export({ format: 'der', type: 'spki' });
    return { subject: subject.replaceAll('\n', ', '), key: publicKey, spki };
  });
}
