import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  type AndroidChanges,
  AndroidVendor,
  type AndroidVendorPlan,
  applicationId,
  certificate,
  type Description,
  PACKAGE_NAME,
  rootOfTrust,
  SIGNING_CERTIFICATE,
} from '../../../../test/support/client-auth/devices/android.js';
import {
  boolean,
  der,
  enumerated,
  explicit,
  integer,
  objectId,
  octets,
  sequence,
  set,
} from '../../../../test/support/client-auth/devices/der-writer.js';
import type { KeyAttestation } from '../../../app-directory/config/device-proofs-config.js';
import { taggedElementsOf } from '../certificates/der.rules.js';
import { readAndroidChain } from './android-chain.rules.js';
import { readAndroidRoots } from './android-roots.js';
import { verifyKeyAttestation } from './key-attestation.rules.js';

const CHALLENGE = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const AT_MS = Date.parse('2026-11-01T00:00:00Z');
const PAST = new Date('2026-10-31T00:00:00Z');
const FUTURE = new Date('2026-11-02T00:00:00Z');
const ATTESTATION = '2b06010401d679020111';
const POLICY: KeyAttestation = {
  ...{ package_names: [PACKAGE_NAME], signing_certificates: [SIGNING_CERTIFICATE] },
  ...{ min_security_level: 'tee', provisioning: 'any', verified_boot: true, mode: 'enforce' },
};

const remote = new AndroidVendor();

interface Situation {
  readonly vendor?: AndroidVendor;
  readonly policy?: Partial<KeyAttestation>;
  readonly roots?: string;
  readonly keyId?: string;
  readonly revoked?: readonly string[];
}

function judge(changes: AndroidChanges = {}, { vendor = remote, policy, roots, keyId, revoked }: Situation = {}) {
  const device = vendor.device();
  const expected = {
    policy: { ...POLICY, ...policy },
    keyId: keyId ?? device.keyId,
    challenge: Buffer.from(CHALLENGE, 'base64url'),
  };
  const trust = { roots: readAndroidRoots(roots ?? vendor.rootPem), revoked: new Set(revoked), atMs: AT_MS };
  return verifyKeyAttestation(readAndroidChain(device.chain(CHALLENGE, changes)), expected, trust);
}

const says = (change: (description: Description) => void): AndroidChanges => ({ description: change });
const hardware = (tag: number, value: Buffer | undefined) =>
  says((description) => {
    if (value === undefined) delete description.hardware[tag];
    else description.hardware[tag] = value;
  });
const application = (value: Buffer) =>
  says((description) => {
    description.software[709] = value;
  });

function refused(reason: string, run: () => unknown): void {
  expect(run).toThrow(expect.objectContaining({ code: 'attest_failed', reason }));
}

describe('a genuine chain', () => {
  it('remotely provisioned → the key, its facts and serial numbers', () => {
    expect(judge()).toEqual({
      publicKey: expect.stringMatching(/^MFkw/),
      facts: {
        ...{ package_name: PACKAGE_NAME, version_code: 42, signing_certificates: [SIGNING_CERTIFICATE] },
        ...{ security_level: 'tee', boot: 'verified', os_patch: 202_511 },
        ...{ provisioning: 'remote', certificates_issued: 64 },
      },
      serials: ['1', 'ab1', 'cd2', 'ef3'],
    });
  });

  it.each(['factory', 'unknown'] as const)('%s → says so', (provisioning) => {
    expect(judge({}, { vendor: new AndroidVendor({ provisioning }) }).facts.provisioning).toBe(provisioning);
  });

  it('in StrongBox → says so', () => {
    expect(judge({}, { vendor: new AndroidVendor({ level: 'strongbox' }) }).facts.security_level).toBe('strongbox');
  });

  it.each<[string, AndroidChanges]>([
    [
      'a later version with unknown tags',
      says((key) => Object.assign(key, { version: integer(900), hardware: { ...key.hardware, 725: octets('new') } })),
    ],
    ['sign alone', hardware(1, set(integer(2)))],
    ['the key description version 1', says((key) => Object.assign(key, { version: integer(1) }))],
    ['a leaf that has expired', { leaf: { to: PAST } }],
    ['a leaf that begins later', { leaf: { from: FUTURE } }],
    [
      'other packages of a shared user id',
      application(applicationId({ 'com.other': 1, [PACKAGE_NAME]: 7 }, [SIGNING_CERTIFICATE])),
    ],
    [
      'two signing certificates',
      application(applicationId({ [PACKAGE_NAME]: 7 }, ['aa'.repeat(32), SIGNING_CERTIFICATE])),
    ],
    ['a root of trust without a hash', hardware(704, sequence(octets(''), boolean(true), enumerated(0)))],
  ])('%s → accepted', (_, changes) => {
    expect(judge(changes).publicKey).toMatch(/^MFkw/);
  });

  it('an attestation with a lower security level than its key → the lower level counts', () => {
    const vendor = new AndroidVendor({ level: 'strongbox' });
    const mixed = says((key) => Object.assign(key, { level: enumerated(1), keyMintLevel: enumerated(2) }));
    expect(judge(mixed, { vendor }).facts.security_level).toBe('tee');
  });

  it('an expired root, an expired factory certificate → accepted; a factory certificate that is not valid yet → refused', () => {
    expect(judge({}, { vendor: new AndroidVendor({ rootTo: PAST }) }).facts.provisioning).toBe('remote');
    const factory = (intermediates: AndroidVendorPlan['intermediates'] = {}) =>
      new AndroidVendor({ provisioning: 'factory', intermediates });
    expect(judge({}, { vendor: factory({ to: PAST }) }).facts.provisioning).toBe('factory');
    refused('certificate_not_in_force', () => judge({}, { vendor: factory({ from: FUTURE }) }));
  });

  it.each(['remote', 'unknown'] as const)('%s, expired → refused', (provisioning) => {
    const vendor = new AndroidVendor({ provisioning, intermediates: { to: PAST } });
    refused('certificate_not_in_force', () => judge({}, { vendor }));
  });
});

describe('the extension', () => {
  it.each<[string, AndroidChanges, string]>([
    ['none', { extension: () => null }, 'extension_missing'],
    ['two', { leaf: { extensions: [1, 2].map(() => ({ id: ATTESTATION, value: octets('') })) } }, 'extension_missing'],
    ['empty', { extension: () => Buffer.alloc(0) }, 'key_description_invalid'],
    ['cut', { extension: (value) => value.subarray(0, -1) }, 'key_description_invalid'],
    ['with a byte after it', { extension: (value) => Buffer.concat([value, Buffer.of(0)]) }, 'key_description_invalid'],
    ['version 0', says((key) => Object.assign(key, { version: integer(0) })), 'key_description_invalid'],
    [
      'a level that is not an enumeration',
      says((key) => Object.assign(key, { level: integer(1) })),
      'key_description_invalid',
    ],
    ['another challenge', says((key) => Object.assign(key, { challenge: octets('other') })), 'challenge_mismatch'],
    [
      'the text of the challenge',
      says((key) => Object.assign(key, { challenge: octets(CHALLENGE) })),
      'challenge_mismatch',
    ],
    [
      'by software',
      says((key) => Object.assign(key, { level: enumerated(0), keyMintLevel: enumerated(0) })),
      'security_level_software',
    ],
    ['a software key', says((key) => Object.assign(key, { keyMintLevel: enumerated(0) })), 'security_level_software'],
    ['more than the key', says((key) => Object.assign(key, { level: enumerated(2) })), 'security_level_mismatch'],
    [
      'a level beyond',
      says((key) => Object.assign(key, { level: enumerated(3), keyMintLevel: enumerated(3) })),
      'security_level_mismatch',
    ],
    [
      'StrongBox of a TEE',
      says((key) => Object.assign(key, { level: enumerated(2), keyMintLevel: enumerated(2) })),
      'strongbox_not_certified',
    ],
    ['no origin', hardware(702, undefined), 'key_not_generated'],
    ['imported', hardware(702, integer(2)), 'key_not_generated'],
    [
      'an origin that software says',
      says((key) => {
        delete key.hardware[702];
        key.software[702] = integer(0);
      }),
      'key_not_generated',
    ],
    ['no purpose', hardware(1, undefined), 'key_purpose_invalid'],
    ['attesting others', hardware(1, set(integer(2), integer(7))), 'key_purpose_invalid'],
    ['RSA', hardware(2, integer(1)), 'public_key_unusable'],
    ['another curve', hardware(10, integer(2)), 'public_key_unusable'],
    ['no root of trust', hardware(704, undefined), 'root_of_trust_missing'],
    [
      'a root of trust that software says',
      says((key) => {
        delete key.hardware[704];
        key.software[704] = rootOfTrust();
      }),
      'root_of_trust_missing',
    ],
    ['unlocked', hardware(704, rootOfTrust({ locked: boolean(false) })), 'bootloader_unlocked'],
    [
      'a lock that is neither',
      hardware(704, rootOfTrust({ locked: der(0x01, Buffer.of(1)) })),
      'key_description_invalid',
    ],
    ['a lock of no byte', hardware(704, rootOfTrust({ locked: der(0x01) })), 'key_description_invalid'],
    [
      'a lock of two bytes',
      hardware(704, rootOfTrust({ locked: der(0x01, Buffer.of(0xff, 0xff)) })),
      'key_description_invalid',
    ],
    ['self-signed boot', hardware(704, rootOfTrust({ state: 1 })), 'boot_not_verified'],
    ['unverified boot', hardware(704, rootOfTrust({ state: 2 })), 'boot_not_verified'],
    ['a boot of no known state', hardware(704, rootOfTrust({ state: 4 })), 'key_description_invalid'],
    ['a negative number', hardware(706, der(0x02, Buffer.of(0x80))), 'key_description_invalid'],
    ['a number of nine bytes', hardware(706, der(0x02, Buffer.alloc(9, 1))), 'key_description_invalid'],
    ['a number of no bytes', hardware(706, der(0x02)), 'key_description_invalid'],
    ['a number with a blank byte', hardware(706, der(0x02, Buffer.of(0, 1))), 'key_description_invalid'],
    [
      'no application',
      says((key) => {
        delete key.software[709];
      }),
      'application_id_missing',
    ],
    [
      'an application that hardware says',
      says((key) => {
        key.hardware[709] = key.software[709] ?? octets('');
        delete key.software[709];
      }),
      'application_id_missing',
    ],
    ['an application in pieces', application(octets('no DER')), 'application_id_invalid'],
    ['an application without digests', application(octets(sequence(set()))), 'application_id_invalid'],
    [
      'another package',
      application(applicationId({ 'com.example.fake': 42 }, [SIGNING_CERTIFICATE])),
      'package_not_allowed',
    ],
    ['no package', application(applicationId({}, [SIGNING_CERTIFICATE])), 'package_not_allowed'],
    [
      'another signature',
      application(applicationId({ [PACKAGE_NAME]: 42 }, ['ab'.repeat(32)])),
      'signing_certificate_not_allowed',
    ],
    ['no signature', application(applicationId({ [PACKAGE_NAME]: 42 }, [])), 'signing_certificate_not_allowed'],
  ])('%s → refused', (_, changes, reason) => {
    refused(reason, () => judge(changes));
  });

  it.each<[string, string]>([
    ['a tag twice', 'bf854f03020101'],
    ['tags that descend', 'bf854103020101'],
    ['a tag of another class', '7f855200'],
    ['a tag without its end', 'bf858585'],
    ['a tag with a blank digit', 'bf80855200'],
    ['a long tag of a short number', 'bf0100'],
    ['a length of four bytes', 'bf85528400000001ff'],
    ['an indefinite length', 'bf85528000000000'],
    ['a length beyond the end', 'bf855205'],
  ])('%s at the end of a list → refused; what may stand there → accepted', (_, hex) => {
    const ending = (bytes: Buffer) => ({ extension: (value: Buffer) => withHardwareEnd(value, bytes) });
    refused('key_description_invalid', () => judge(ending(Buffer.from(hex, 'hex'))));
    expect(judge(ending(explicit(850, octets('new')))).publicKey).toMatch(/^MFkw/);
  });
});

describe('the chain', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  it('extended below an attested key, with and without an attestation → refused', () => {
    const device = remote.device();
    const forged = (extensions: { id: string; value: Buffer }[]) =>
      certificate({
        ...{ subject: { CN: 'Forged' }, issuer: { CN: 'Android Keystore Key' }, extensions },
        ...{ publicKey: other.publicKey, signedBy: device.keys.privateKey },
      });
    refused('chain_extended', () =>
      judge({ chain: (chain) => [forged([{ id: ATTESTATION, value: octets('') }]), ...chain] }),
    );
    refused('extension_elsewhere', () => judge({ chain: (chain) => [forged([]), ...chain] }));
  });

  it.each<[string, (chain: Buffer[]) => Buffer[], string]>([
    ['the leaf alone', (chain) => chain.slice(0, 1), 'certificate_untrusted'],
    ['without its root', (chain) => chain.slice(0, -1), 'certificate_untrusted'],
    ['without an intermediate', (chain) => chain.toSpliced(1, 1), 'certificate_issuer_mismatch'],
    [
      'in another order',
      ([leaf, one, two, ...rest]) => [leaf, two, one, ...rest].filter((der) => der !== undefined),
      'certificate_issuer_mismatch',
    ],
    [
      'a byte after a certificate',
      (chain) => chain.with(1, Buffer.concat([chain[1] ?? Buffer.of(), Buffer.of(0)])),
      'certificate_unreadable',
    ],
    ['no DER', (chain) => chain.with(1, Buffer.from('hello')), 'certificate_unreadable'],
    ['a changed signature', (chain) => chain.with(1, flipped(chain[1])), 'certificate_signature_invalid'],
  ])('%s → refused', (_, chain, reason) => {
    refused(reason, () => judge({ chain }));
  });

  it('signed by another key, at each place → refused', () => {
    refused('certificate_signature_invalid', () => judge({ leaf: { signedBy: other.privateKey } }));
    const vendor = new AndroidVendor({ intermediates: { signedBy: other.privateKey } });
    refused('certificate_signature_invalid', () => judge({}, { vendor }));
  });

  it.each([
    ['leaf', '1'],
    ['attesting certificate', 'ab1'],
    ['one above it', 'cd2'],
    ['root', 'ef3'],
  ])('the serial number of its %s is listed → refused, before any signature', (_, serial) => {
    refused('certificate_revoked', () => judge({ leaf: { signedBy: other.privateKey } }, { revoked: ['99', serial] }));
  });

  it('serial numbers of others are listed → accepted', () => {
    expect(judge({}, { revoked: ['ab', 'ab10', '0ab1'] }).facts.provisioning).toBe('remote');
  });

  it('an untrusted root → refused; another certificate of a trusted key → accepted', () => {
    refused('certificate_untrusted', () => judge({}, { roots: new AndroidVendor().rootPem }));
    const name = { serialNumber: 'f0f0f0f0f0f0f0f0' };
    const again = certificate({
      ...{ subject: name, issuer: name, publicKey: remote.rootKeys.publicKey, signedBy: other.privateKey },
    });
    expect(judge({ chain: (chain) => chain.with(-1, again) }).facts.provisioning).toBe('remote');
    const notItsOwn = certificate({
      ...{ subject: name, issuer: { CN: 'Other' }, publicKey: remote.rootKeys.publicKey, signedBy: other.privateKey },
    });
    refused('certificate_untrusted', () => judge({ chain: (chain) => chain.with(-1, notItsOwn) }));
  });

  it('a certificate above the attesting key that is not a CA → refused', () => {
    const device = remote.device();
    const chain = ([leaf, , , root]: Buffer[]) => {
      const names = [{ O: 'TEE', CN: '01ab' }, { CN: 'No Authority' }, { serialNumber: 'f0f0f0f0f0f0f0f0' }] as const;
      const attesting = certificate({
        ...{
          subject: names[0],
          issuer: names[1],
          publicKey: remote.attesting.publicKey,
          signedBy: device.keys.privateKey,
        },
      });
      const none = certificate({
        ...{ subject: names[1], issuer: names[2], publicKey: device.keys.publicKey, isAuthority: false },
        signedBy: remote.rootKeys.privateKey,
      });
      return [leaf, attesting, none, root].filter((one) => one !== undefined);
    };
    refused('certificate_authority_invalid', () => judge({ chain }));
  });

  it.each([
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ])('a key of %s → refused', (_, make) => {
    refused('public_key_unusable', () => judge({ leaf: { publicKey: make().publicKey } }));
  });

  it('the id of another key → refused', () => {
    refused('key_id_mismatch', () => judge({}, { keyId: remote.device().keyId }));
  });
});

describe('the policy', () => {
  it.each<[string, Situation, AndroidChanges, string]>([
    ['StrongBox of a TEE', { policy: { min_security_level: 'strongbox' } }, {}, 'security_level_too_low'],
    [
      'remote of a factory',
      { policy: { provisioning: 'remote' }, vendor: new AndroidVendor({ provisioning: 'factory' }) },
      {},
      'provisioning_not_remote',
    ],
    ['a later patch', { policy: { min_os_patch: 202_512 } }, {}, 'os_patch_too_old'],
    [
      'a patch of a device without',
      { policy: { min_os_patch: 202_001 } },
      hardware(706, undefined),
      'os_patch_too_old',
    ],
    [
      'no verified boot, unlocked',
      { policy: { verified_boot: false } },
      hardware(704, rootOfTrust({ locked: boolean(false) })),
      'bootloader_unlocked',
    ],
  ])('%s → refused', (_, situation, changes, reason) => {
    refused(reason, () => judge(changes, situation));
  });

  it('values that just meet the policy → accepted', () => {
    const strongbox = new AndroidVendor({ level: 'strongbox' });
    const policy = {
      min_security_level: 'strongbox',
      provisioning: 'remote',
      min_os_patch: 202_511,
      min_version_code: 42,
    } as const;
    expect(judge({}, { vendor: strongbox, policy }).facts.security_level).toBe('strongbox');
    const ownSystem = hardware(704, rootOfTrust({ state: 1 }));
    expect(judge(ownSystem, { policy: { verified_boot: false } }).facts.boot).toBe('self_signed');
  });

  it('a lower version code → app_version_too_old, with the minimum', () => {
    expect(() => judge({}, { policy: { min_version_code: 43 } })).toThrow(
      expect.objectContaining({
        code: 'app_version_too_old',
        reason: 'version_code_too_low',
        data: { minimum: 43, kind: 'version_code' },
      }),
    );
  });
});

function flipped(bytes: Buffer = Buffer.of()): Buffer {
  const changed = Buffer.from(bytes);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  return changed;
}

/** The value of the extension with bytes at the end of its last list. */
function withHardwareEnd(value: Buffer, bytes: Buffer): Buffer {
  const [outer] = taggedElementsOf(value) ?? [];
  const [software, hardware] = (taggedElementsOf(outer?.content ?? value) ?? []).slice(-2);
  if (outer === undefined || software === undefined || hardware === undefined) throw new TypeError('not the extension');
  const before = outer.content.subarray(0, outer.content.length - software.rest.length);
  return sequence(before, sequence(hardware.content, bytes));
}

describe('the time of a judgement', () => {
  const ROUNDS = 100;
  const REPEATS = 5;

  /** Usual CPU time of this thread in milliseconds, at best of a few repeats: a busy machine adds to the others. */
  function usualMs(judgement: () => unknown): number {
    const ofRepeats = Array.from({ length: REPEATS }, () => {
      const times = Array.from({ length: ROUNDS }, () => {
        const before = process.threadCpuUsage();
        judgement();
        const { user, system } = process.threadCpuUsage(before);
        return (user + system) / 1000;
      });
      return times.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0;
    });
    return Math.min(...ofRepeats);
  }

  const trust = { roots: readAndroidRoots(remote.rootPem), revoked: new Set<string>(), atMs: AT_MS };
  const device = remote.device();
  const genuine = device.chain(CHALLENGE);
  const expected = { policy: POLICY, keyId: device.keyId, challenge: Buffer.from(CHALLENGE, 'base64url') };

  it('a good chain → 3 ms at most', () => {
    expect(usualMs(() => verifyKeyAttestation(readAndroidChain(genuine), expected, trust))).toBeLessThan(3);
  });

  /** A certificate with that many elements in one of its lists. */
  const stuffed = (place: 'subject' | 'extensions' | 'key', element: Buffer, count = 16_000 / element.length) => {
    const list = (name: typeof place) => sequence(...Array(name === place ? Math.floor(count) : 0).fill(element));
    const none = sequence();
    const named = [integer(1), none, none, none, list('subject'), list('key')];
    return sequence(sequence(explicit(0, integer(2)), ...named, explicit(3, list('extensions'))), none, octets(''));
  };
  const attribute = sequence(objectId('55'), octets(''));
  const extension = sequence(objectId('55'), octets('12345678'.repeat(25)));

  it.each<[string, readonly Buffer[], Partial<typeof trust & typeof expected>]>([
    ['another challenge', genuine, { challenge: Buffer.alloc(32) }],
    ['another app', genuine, { policy: { ...POLICY, package_names: ['com.other'] } }],
    ['an unknown root', genuine, { roots: readAndroidRoots(new AndroidVendor().rootPem) }],
    ['a revoked certificate', genuine, { revoked: new Set(['ab1']) }],
    ['ten names of many parts', Array(10).fill(stuffed('subject', set(attribute))), {}],
    ['ten names of one long part', Array(10).fill(stuffed('subject', set(...Array(1_500).fill(attribute)), 1)), {}],
    ['ten lists of extensions', Array(10).fill(stuffed('extensions', attribute)), {}],
    ['ten lists that are just read', Array(10).fill(stuffed('extensions', extension, 64)), {}],
    ['ten keys of many elements', Array(10).fill(stuffed('key', der(0x05))), {}],
    ['ten times 16 KiB of nothings', Array(10).fill(sequence(Buffer.alloc(16_000, '0500', 'hex'))), {}],
  ])('%s → refused within 1 ms', (_, chain, changes) => {
    const judgement = () =>
      verifyKeyAttestation(readAndroidChain(chain), { ...expected, ...changes }, { ...trust, ...changes });
    expect(judgement).toThrow(expect.objectContaining({ code: 'attest_failed' }));
    const held = usualMs(() => {
      try {
        judgement();
      } catch {
        // Refused, as above.
      }
    });
    expect(held).toBeLessThan(1);
  });
});
