import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { DeviceVendor } from '../../../test/support/client-auth/devices/device.js';
import { SystemClock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { EnvironmentError, loadEnvironment } from '../../platform/config/environment.js';
import { attestationRootsOf, VENDOR_ROOT } from './attestation-roots.js';

const directory = mkdtempSync(join(tmpdir(), 'gw-attestation-roots-'));
const vendor = await DeviceVendor.create();
let files = 0;

afterAll(() => rmSync(directory, { recursive: true }));

function fileOf(text: string): string {
  const file = join(directory, `${++files}.pem`);
  writeFileSync(file, text);
  return file;
}

function rootsOf(file?: string) {
  const lines: Record<string, unknown>[] = [];
  const log = new Log(new SystemClock(), 'debug', (line) => lines.push(JSON.parse(line)));
  const environment = loadEnvironment(file === undefined ? {} : { APP_ATTEST_ROOT_CA_FILE: file });
  return { roots: attestationRootsOf(environment, log).roots, lines };
}

describe('roots of attestation', () => {
  it('unset → only the vendor’s root, identified by its fingerprint, and no log line', () => {
    const { roots, lines } = rootsOf();
    expect(roots.map(({ certificate }) => certificate)).toEqual([
      expect.objectContaining({
        subject: expect.stringContaining('CN=Apple App Attestation Root CA'),
        notBeforeMs: Date.parse('2020-03-18T18:32:53Z'),
        notAfterMs: Date.parse('2045-03-15T00:00:00Z'),
      }),
    ]);
    const published = new X509Certificate(VENDOR_ROOT);
    expect(published.fingerprint256.replaceAll(':', '')).toBe(
      '1CB9823BA28BA6AD2D33A006941DE2AE4F513EF1D4E831B9F7E0FA7B6242C932',
    );
    expect(roots[0]?.key.equals(published.publicKey)).toBe(true);
    expect(roots.every(({ certificate, key }) => certificate.isSignedBy(key))).toBe(true);
    expect(lines).toEqual([]);
  });

  it('a file → all of its certificates instead, and one log line that names them', async () => {
    const other = await DeviceVendor.create({ rootName: 'CN=Second Root' });
    const file = fileOf(`# ours\r\n${vendor.rootPem}\r\n\r\n${other.rootPem.replaceAll('\n', '\r\n')}\n`);
    const { roots, lines } = rootsOf(file);
    expect(roots.map(({ certificate }) => certificate.subject)).toEqual([vendor.root.subject, 'CN=Second Root']);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: 'app_attest_root_replaced',
        file,
        subjects: `${vendor.root.subject}; CN=Second Root`,
      }),
    ]);
  });

  it('a certificate of another kind of key → the service refuses to start', async () => {
    const publicKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' });
    let der: Buffer = Buffer.alloc(0);
    const certificates = ([leaf = der]: readonly Buffer[]) => {
      der = leaf;
      return [];
    };
    const request = { challenge: '', teamId: '', bundleId: '' };
    await vendor.device().attest(request, { leaf: { publicKey }, certificates });
    const pem = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    expect(new X509Certificate(pem).publicKey.asymmetricKeyType).toBe('ed25519');
    expect(() => rootsOf(fileOf(pem))).toThrow(EnvironmentError);
  });

  it.each([
    ['an empty file', () => fileOf('')],
    ['a file of something else', () => fileOf('certificates, soon')],
    ['a certificate that is cut', () => fileOf(vendor.rootPem.slice(0, 300))],
    ['a certificate that is garbled', () => fileOf(vendor.rootPem.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA'))],
    ['a good one and a cut one', () => fileOf(`${vendor.rootPem}\n${vendor.rootPem.slice(0, 300)}`)],
    ['no file', () => join(directory, 'missing.pem')],
    ['a directory', () => directory],
  ])('%s → the service refuses to start and names the variable', (_, make) => {
    const file = make();
    expect(() => rootsOf(file)).toThrow(EnvironmentError);
    expect(() => rootsOf(file)).toThrow(/^APP_ATTEST_ROOT_CA_FILE must be a readable PEM file/);
    expect(() => rootsOf(file)).not.toThrow(file);
  });
});
