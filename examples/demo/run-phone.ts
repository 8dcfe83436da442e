import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AndroidVendor } from '../../test/support/client-auth/devices/android.js';
import { DeviceVendor } from '../../test/support/client-auth/devices/device.js';
import { type IssuerSimulator, startIssuer } from '../../test/support/client-auth/issuers/issuer.js';
import { managementApi } from './management-api.js';
import type { PhoneStory } from './phone-steps.js';
import { blockUser, callFromBackend, callFromInstall, callFromUser, tellWhy } from './phone-story.js';
import { fact, heading, remark, write } from './screen.js';
import { shownHttp } from './shown-http.js';
import { playOnStage, type Stage } from './stage.js';

interface Maker {
  readonly vendor: DeviceVendor;
  readonly android: AndroidVendor;
  readonly issuer: IssuerSimulator;
  readonly once: boolean;
}

/**
 * Simulates phones, their vendors and an identity provider against the real service, request by request; then waits for
 * Ctrl-C unless `once`.
 *
 * @returns the exit code of the process.
 */
export async function runPhone({ once }: { readonly once: boolean }): Promise<number> {
  const vendor = await DeviceVendor.create();
  const android = new AndroidVendor();
  const issuer = await startIssuer();
  const directory = mkdtempSync(join(tmpdir(), 'gateway-phone-'));
  const rootFile = join(directory, 'root.pem');
  writeFileSync(rootFile, vendor.rootPem);
  const rootsFile = join(directory, 'android-roots.pem');
  writeFileSync(rootsFile, android.rootPem);
  const settings = {
    ...{ APP_ATTEST_ROOT_CA_FILE: rootFile, ANDROID_ATTESTATION_ROOTS_FILE: rootsFile },
    ANDROID_REVOCATION_LIST: 'off',
  };
  try {
    return await playOnStage(settings, (stage) => story(stage, { vendor, android, issuer, once }));
  } finally {
    await issuer.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function story(
  { service, simulator, providerKey }: Stage,
  { vendor, android, issuer, once }: Maker,
): Promise<void> {
  heading('1. Start the service');
  const url = await service.url;
  fact('Service', url);
  fact('Provider', `a simulated OpenAI at ${simulator.url}`);
  fact('Identity', `a simulated identity provider at ${issuer.url}`);
  fact('Phones', 'simulated; settings name the roots of their vendors');
  const { provider } = await managementApi(url, service.managementKey).post('providers', {
    type: 'openai',
    name: 'Simulated OpenAI',
    secret: providerKey,
    baseUrl: `${simulator.url}/`,
  });
  const { managementKey } = service;
  const told: PhoneStory = { http: shownHttp(url), managementKey, provider, vendor, android, issuer };
  await callFromInstall(told);
  const phone = await callFromUser(told);
  const backend = await callFromBackend(told);
  await blockUser(told, phone);
  await tellWhy(told, url, phone);
  if (once) return;
  invite({
    GATEWAY: url,
    MANAGEMENT_KEY: service.managementKey,
    APP: phone.appId,
    GATEWAY_TOKEN: phone.gatewayToken,
    BACKEND_APP: backend.id,
    BACKEND_KEY: backend.key,
    ISSUER_TOKEN: backend.issuerToken,
  });
  await service.ended;
  throw new Error('The service has ended by itself.');
}

/** Without indentation, so that the lines can be copied. */
function invite(variables: Readonly<Record<string, string>>): void {
  heading('Your turn: the service keeps running');
  remark('For a second terminal:');
  write('\n');
  for (const [name, value] of Object.entries(variables)) write(`export ${name}=${value}\n`);
  write('\n');
  remark('Ctrl-C stops everything.');
}
