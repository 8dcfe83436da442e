import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorld, type World } from '../../world.js';
import { AndroidVendor } from '../devices/android.js';
import { AndroidPhone } from '../devices/android-phone.js';
import { DeviceVendor } from '../devices/device.js';
import { BUNDLE_ID, Phone, TEAM_ID } from '../devices/phone.js';
import { PlayVendor } from '../devices/play.js';
import { PlayPhone } from '../devices/play-phone.js';
import { startIssuer } from '../issuers/issuer.js';

type EndUser = 'issuer' | 'app_install';

/** A world with a vendor of devices and an identity provider that its applications trust. */
export type MobileWorld = Awaited<ReturnType<typeof startMobileWorld>>;

interface DeviceAppOptions {
  readonly environments?: readonly string[];
  readonly issuer?: Record<string, unknown>;
}

type WorldOptions = NonNullable<Parameters<typeof startWorld>[0]>;

/** `authentication` of a mobile application of the simulated vendor's devices. */
export function deviceAuthentication(
  endUser: Readonly<Record<string, unknown>>,
  environments: readonly string[] = ['production', 'development'],
): Record<string, unknown> {
  return {
    type: 'device_app_attest',
    end_user: endUser,
    app_attest: { team_id: TEAM_ID, bundle_id: BUNDLE_ID, environments },
  };
}

/** Replaces an application with itself and these changes. */
export async function changeApp(
  world: Pick<World, 'api'>,
  { id }: { readonly id: string },
  { config, ...changes }: { readonly config?: Record<string, unknown>; readonly status?: 'active' | 'disabled' },
): Promise<void> {
  const stored = (await world.api.get(`/v1/admin/apps/${id}`)).body.app;
  const { name, revision } = stored;
  const body = { name, revision, config: { ...stored.config, ...config }, ...changes };
  const { status, text } = await world.api.put(`/v1/admin/apps/${id}`, body);
  if (status !== 200) throw new Error(`change: ${status} ${text}`);
}

/** Starts a world that trusts the vendor's root, and every caller as a proxy. Stop it in `afterAll`. */
export async function startMobileWorld({
  env = {},
  play = new PlayVendor(),
  ...options
}: WorldOptions & { readonly play?: PlayVendor } = {}) {
  const vendor = await DeviceVendor.create();
  const issuer = await startIssuer({ clock: options.clock });
  const directory = mkdtempSync(join(tmpdir(), 'gateway-vendor-'));
  const rootFile = join(directory, 'root.pem');
  writeFileSync(rootFile, vendor.rootPem);
  const android = new AndroidVendor();
  const androidRootsFile = join(directory, 'android-roots.pem');
  writeFileSync(androidRootsFile, android.rootPem);
  const clean = async () => {
    await issuer.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  const world = await startWorld({
    ...options,
    env: {
      ...{ APP_ATTEST_ROOT_CA_FILE: rootFile, ANDROID_ATTESTATION_ROOTS_FILE: androidRootsFile },
      TRUSTED_PROXIES: '127.0.0.1',
      ...env,
    },
  }).catch(async (error: unknown) => {
    await clean();
    throw error;
  });
  return {
    ...world,
    vendor,
    android,
    play,
    issuer,
    /** The path of the vendor's root, for further instances. */
    rootFile,
    /** A mobile application. @param options `issuer`: overrides of `end_user.issuer`. */
    deviceApp(endUser: EndUser, { environments, issuer: overrides }: DeviceAppOptions = {}) {
      const user = endUser === 'issuer' ? { issuer: issuer.issuerConfig(overrides) } : {};
      return world.app({ authentication: deviceAuthentication({ source: endUser, ...user }, environments) });
    },
    /** An application of several platforms. @param proofs of its configuration. */
    proofsApp(endUser: EndUser, proofs: Readonly<Record<string, unknown>>) {
      const user = endUser === 'issuer' ? { issuer: issuer.issuerConfig() } : {};
      return world.app({ authentication: { type: 'device_proofs', end_user: { source: endUser, ...user }, proofs } });
    },
    /** A server application whose users sign in, and its key. */
    backendApp(overrides?: Record<string, unknown>) {
      const user = { source: 'issuer', issuer: issuer.issuerConfig(overrides) };
      return world.app({ authentication: { type: 'api_key', end_user: user } });
    },
    androidPhone: (app: { readonly id: string }) => new AndroidPhone(world, app.id, android),
    playPhone: (app: { readonly id: string }) => new PlayPhone(world, app.id, play),
    phone: (app: { readonly id: string }) => new Phone(world, app.id, vendor),
    async stop() {
      await world.stop();
      await clean();
    },
  };
}
