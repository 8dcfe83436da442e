/**
 * Phones, their vendor and the identity provider of their users, as a process of its own. The devices are those of the
 * tests: simulated, their proofs as large as genuine ones.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceVendor } from '../../test/support/client-auth/devices/device.ts';
import { nowMs } from '../clock.mjs';
import { takeJobs } from '../jobs.mjs';
import { between, readMeter } from '../load-closed.mjs';
import { summary } from '../statistics.mjs';
import { startIdentityProvider } from './identity-provider.mjs';
import { PhoneLine } from './phone-line.mjs';

const REGISTERING_AT_ONCE = 8;
const BUNDLE = { teamId: 'ABCDE12345', bundleId: 'com.example.bench' };
const APP_ATTEST = { team_id: BUNDLE.teamId, bundle_id: BUNDLE.bundleId, environments: ['production'] };
const vendor = await DeviceVendor.create();
const identityProvider = await startIdentityProvider();
/** By application. */
const phonesOf = new Map();

/** What applications and the gateway must be told to believe these phones. */
function introduce() {
  const device = (endUser) => ({ type: 'device_app_attest', end_user: endUser, app_attest: APP_ATTEST });
  return {
    rootPem: vendor.rootPem,
    installs: device({ source: 'app_install' }),
    users: device(identityProvider.endUser),
    backend: { type: 'api_key', end_user: identityProvider.endUser },
  };
}

/** The gateway token that a backend gets for one of its users. */
async function exchangeKey({ port, appId, appKey, userId }) {
  const line = new PhoneLine(port);
  const body = { api_key: appKey, issuer_token: identityProvider.tokenOf(userId) };
  const answer = await line.post({ appId, route: 'token', address: addressOf(0) }, body);
  line.close();
  return answer.access_token;
}

/** Registers `count` phones of an application. @returns what {@link between} says of the time it took */
async function register({ port, pid, appId, count, isSignedIn }) {
  const phones = Array.from({ length: count }, (_, index) => newPhone(appId, index, isSignedIn));
  phonesOf.set(appId, phones);
  const start = readMeter(pid);
  await onLines(port, REGISTERING_AT_ONCE, async (line, from) => {
    for (let i = from; i < count; i += REGISTERING_AT_ONCE) await registerOne(line, phones[i]);
  });
  return { completed: count, ...between(start, readMeter(pid)) };
}

function newPhone(appId, index, isSignedIn) {
  const issuer_token = isSignedIn ? identityProvider.tokenOf(`user-${index}`) : undefined;
  return { appId, device: vendor.device(), address: addressOf(index), members: { issuer_token } };
}

/** One of 16 million; nobody meets the limits of an address. */
function addressOf(index) {
  return `11.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

async function registerOne(line, { appId, device, address, members }) {
  const { challenge } = await line.post({ appId, route: 'challenge', address }, {});
  const attestation = await device.attest({ ...BUNDLE, challenge });
  const body = { ...members, key_id: device.keyId, attestation, challenge };
  await line.post({ appId, route: 'register', address }, body);
}

/**
 * Exchanges in a closed loop, each line with phones of its own, one after the other. An exchange that fails ends it.
 *
 * @returns `completed`, CPU and time as {@link between} has them, and the summary (ms) of whole exchanges, the phone's
 *   own signing left out: `exchange`
 */
async function exchange({ port, pid, appId, lines, warmMs, durationMs }) {
  const phones = phonesOf.get(appId);
  const run = { isOver: false, isMeasuring: false, exchangesMs: [] };
  const work = onLines(port, lines, async (line, from) => {
    for (let i = from; !run.isOver; i = i + lines < phones.length ? i + lines : from) {
      await exchangeOne(line, phones[i], run);
    }
  });
  await Promise.race([work, sleep(warmMs)]);
  run.isMeasuring = true;
  const start = readMeter(pid);
  await Promise.race([work, sleep(durationMs)]);
  const end = readMeter(pid);
  run.isMeasuring = false;
  run.isOver = true;
  await work;
  return { completed: run.exchangesMs.length, ...between(start, end), exchange: summary(run.exchangesMs) };
}

async function exchangeOne(line, { appId, device, address, members }, run) {
  const startMs = nowMs();
  const { challenge } = await line.post({ appId, route: 'challenge', address }, {});
  const challengedMs = nowMs();
  const assertion = device.assert({ ...BUNDLE, appId, challenge });
  const signedMs = nowMs();
  await line.post({ appId, route: 'token', address }, { ...members, key_id: device.keyId, assertion, challenge });
  if (run.isMeasuring) run.exchangesMs.push(nowMs() - signedMs + challengedMs - startMs);
}

async function onLines(port, count, work) {
  const lines = Array.from({ length: count }, () => new PhoneLine(port));
  try {
    await Promise.all(lines.map(work));
  } finally {
    for (const line of lines) line.close();
  }
}

takeJobs({ introduce, exchangeKey, register, exchange });
