import { describe, expect, it } from '@jest/globals';
import { type RawObject, rawIssuer } from '../../../test/support/apps/app-configs.js';
import { authenticationConfig, hasUserIdentity } from './authentication-config.js';

const read = (raw: unknown) => authenticationConfig(raw, 'a');
const attest = { team_id: 'ABCDE12345', bundle_id: 'com.example.app' };
const device = (changes: RawObject) =>
  read({ type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest: attest, ...changes });
const server = (end_user?: unknown) => read({ type: 'api_key', end_user });

describe('authentication: type', () => {
  it.each([['apple_app_attest'], ['API_KEY'], [''], [undefined], [null]])('%j → refused', (type) => {
    expect(() => read({ type, app_attest: attest })).toThrow(/^a\.type: (must be|is required)/);
  });
});

describe('authentication: device applications', () => {
  it('installation as user, no environments → production only', () => {
    expect(device({})).toEqual({
      type: 'device_app_attest',
      end_user: { source: 'app_install' },
      app_attest: { ...attest, environments: ['production'] },
    });
  });

  it.each([
    [{ end_user: undefined }, 'a.end_user: is required'],
    [{ app_attest: undefined }, 'a.app_attest: is required'],
    [{ end_user: { source: 'header', header: 'x-user' } }, 'a.end_user.source: must be "issuer" or "app_install"'],
    [{ end_user: { source: 'none' } }, 'a.end_user.source: must be "issuer" or "app_install"'],
    [{ end_user: { source: 'app_install', issuer: {} } }, 'a.end_user.issuer: only with source "issuer"'],
    [{ end_user: { source: 'issuer' } }, 'a.end_user.issuer: is required'],
    [{ app_attest: { ...attest, team_id: 'abcde12345' } }, 'a.app_attest.team_id: must be ten capital letters'],
    [{ app_attest: { ...attest, team_id: 'ABCDE1234' } }, 'a.app_attest.team_id: must be ten capital letters'],
    [{ app_attest: { ...attest, bundle_id: 'example' } }, 'a.app_attest.bundle_id: must be a bundle identifier'],
    [{ app_attest: { ...attest, bundle_id: 'com..app' } }, 'a.app_attest.bundle_id: must be a bundle identifier'],
    [{ app_attest: { ...attest, environments: [] } }, 'a.app_attest.environments: must have at least 1 entry'],
    [{ app_attest: { ...attest, environments: ['staging'] } }, 'a.app_attest.environments.0: must be "production"'],
    [
      { app_attest: { ...attest, environments: ['production', 'production'] } },
      'a.app_attest.environments: must not name an environment twice',
    ],
    [{ app_attest: { ...attest, receipt: true } }, 'a.app_attest.receipt: is not a known field'],
  ])('%j → %s', (changes, message) => {
    expect(() => device(changes)).toThrow(message);
  });

  it('identifiers with blanks around them → trimmed', () => {
    const app_attest = { team_id: ' ABCDE12345 ', bundle_id: '\tcom.example.app\n' };
    expect(device({ app_attest })).toMatchObject({ app_attest: attest });
  });
});

describe('authentication: server applications', () => {
  it.each([[undefined], [{ source: 'none' }]])('end_user %j → no user identity', (end_user) => {
    const authentication = server(end_user);
    expect(authentication).toStrictEqual({ type: 'api_key' });
    expect(hasUserIdentity(authentication)).toBe(false);
  });

  it('header → trimmed and in lower case', () => {
    const authentication = server({ source: 'header', header: ' X-End-User-ID ' });
    expect(authentication.end_user).toEqual({ source: 'header', header: 'x-end-user-id' });
    expect(hasUserIdentity(authentication)).toBe(true);
  });

  it('header without a name → the default name', () => {
    expect(server({ source: 'header' }).end_user).toEqual({ source: 'header', header: 'x-end-user-id' });
  });

  it('issuer → accepted', () => {
    expect(server({ source: 'issuer', issuer: rawIssuer() }).end_user).toMatchObject({ source: 'issuer' });
  });

  it.each(['x'.repeat(64), "!#$%&'*+.^_`|~-"])('header name %s → accepted', (header) => {
    expect(server({ source: 'header', header }).end_user).toEqual({ source: 'header', header });
  });

  it.each(['', 'x'.repeat(65), 'x user', 'x:user', 'x\nuser', 'ünicode', '"x"'])(
    'header name %j → refused',
    (header) => {
      expect(() => server({ source: 'header', header })).toThrow(/^a\.end_user\.header: /);
    },
  );

  it.each([
    'Authorization',
    'x-api-key',
    'X-Goog-Api-Key',
    'x-app-version',
    'content-type',
    'Content-Length',
    'HOST',
    'transfer-encoding',
    'cookie',
  ])('header the service owns, %s → refused', (header) => {
    expect(() => server({ source: 'header', header })).toThrow(/^a\.end_user\.header: must not be/);
  });

  it.each([
    [{ source: 'app_install' }, 'a.end_user.source: must be "header" or "issuer" or "none"'],
    [{ source: 'header', header: 'x-user', issuer: {} }, 'a.end_user.issuer: only with source "issuer"'],
    [{ source: 'issuer', issuer: {}, header: 'x-user' }, 'a.end_user.header: only with source "header"'],
    [{ source: 'none', header: 'x-user' }, 'a.end_user.header: only with source "header"'],
    [{ source: 'header', header: 'x-user', required: true }, 'a.end_user.required: is not a known field'],
    [null, 'a.end_user: must be an object'],
  ])('end_user %j → %s', (end_user, message) => {
    expect(() => server(end_user)).toThrow(message);
  });

  it('app_attest and proofs → refused', () => {
    expect(() => read({ type: 'api_key', app_attest: attest })).toThrow('a.app_attest: only with type');
    expect(() => read({ type: 'api_key', proofs: {} })).toThrow('a.proofs: only with type "device_proofs"');
  });
});

describe('authentication: several proofs', () => {
  const hash = 'Ab'.repeat(32);
  const android = { package_names: ['com.example.app'], signing_certificates: [hash] };
  const proofs = (sent: unknown, changes: RawObject = {}) =>
    read({ type: 'device_proofs', end_user: { source: 'app_install' }, proofs: sent, ...changes });

  it('Android only → defaults, hashes in lower case', () => {
    expect(proofs({ key_attestation: android })).toEqual({
      type: 'device_proofs',
      end_user: { source: 'app_install' },
      proofs: {
        key_attestation: {
          ...{ package_names: ['com.example.app'], signing_certificates: [hash.toLowerCase()] },
          ...{ min_security_level: 'tee', provisioning: 'any', verified_boot: true, mode: 'enforce' },
        },
      },
    });
  });

  it('both, with every member → as sent', () => {
    const all = {
      ...{ ...android, min_security_level: 'strongbox', min_os_patch: 202_610, provisioning: 'remote' },
      ...{ verified_boot: false, min_version_code: 42, mode: 'tier' },
    };
    expect(proofs({ app_attest: attest, key_attestation: all })).toMatchObject({
      proofs: {
        app_attest: { ...attest, environments: ['production'] },
        key_attestation: { ...all, signing_certificates: [hash.toLowerCase()] },
      },
    });
  });

  it.each<[RawObject, string]>([
    [{}, 'a.proofs: must have app_attest or key_attestation'],
    [{ play: {} }, 'a.proofs.play: is not a known field'],
    [{ key_attestation: { ...android, package_names: [] } }, 'package_names: must have at least 1 entry'],
    [{ key_attestation: { ...android, package_names: ['app'] } }, 'package_names.0: must be an application id'],
    [
      { key_attestation: { ...android, package_names: ['a.b', 'a.b'] } },
      'package_names: must not name a package twice',
    ],
    [{ key_attestation: { ...android, signing_certificates: ['ab'] } }, 'signing_certificates.0: must be a SHA-256'],
    [
      { key_attestation: { ...android, signing_certificates: [hash, hash.toLowerCase()] } },
      'signing_certificates: must not name a certificate twice',
    ],
    [{ key_attestation: { ...android, min_os_patch: 202_613 } }, 'min_os_patch: must be a year and month'],
    [{ key_attestation: { ...android, min_os_patch: 20_261_001 } }, 'min_os_patch: must be'],
    [{ key_attestation: { ...android, verified_boot: 'no' } }, 'verified_boot: must be true or false'],
    [{ key_attestation: { ...android, min_security_level: 'software' } }, 'min_security_level: must be "tee"'],
    [{ key_attestation: { ...android, min_version_code: 0 } }, 'min_version_code: must be'],
  ])('%j → %s', (sent, message) => {
    expect(() => proofs(sent)).toThrow(message);
  });

  it('app_attest beside proofs, proofs beside app_attest, none, a header user → refused', () => {
    expect(() => proofs({ app_attest: attest }, { app_attest: attest })).toThrow('a.app_attest: only with type');
    expect(() => device({ proofs: {} })).toThrow('a.proofs: only with type "device_proofs"');
    expect(() => proofs(undefined)).toThrow('a.proofs: is required');
    expect(() => proofs({ app_attest: attest }, { end_user: { source: 'header' } })).toThrow('a.end_user.source');
  });
});
