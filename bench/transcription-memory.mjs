/**
 * How often a large transcription stands in memory. The suite `transcription` measures named endpoints; other ways by
 * themselves: `node bench/transcription-memory.mjs [--mib=20] [--open=1,4]
 * [--path=/v1/apps/{app}/endpoints/transcribe] [--chunked]`, after a build, on Linux. Exit code 1 when it is more than
 * the target's times.
 *
 * Each case has a service of its own, warmed up with small transcriptions. Its provider reads none of the large ones
 * until all have come, so that they are wholly there at once. "resident" is the kernel's own high-water mark from the first byte
 * received to the last byte answered, less what was resident before; "held" is what the buffers take while garbage is
 * collected all the time, in a second run.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { addProvider, launchGateway } from './gateway.mjs';
import { bearer } from './party.mjs';
import { stopChildren } from './processes.mjs';
import { number, printTable } from './report.mjs';
import { residentBytes } from './resources.mjs';
import { TARGETS } from './targets.mjs';

const MIB = 1024 * 1024;
const PROXY_PATH = '/v1/apps/{app}/proxy/openai/v1/audio/transcriptions';
const ENDPOINT_PATH = '/v1/apps/{app}/endpoints/transcribe';
const USUAL_MIB = 20;
const USUAL_OPEN = [1, 4];
const BOUNDARY = 'bench-7Qe2';
const UNREAD_MS = 1_500;
const WARM_CALLS = 300;
const SETTLE_MS = 2_000;
const PATIENCE_MS = 60_000;
const PROBE = new URL('memory-probe.mjs', import.meta.url).href;

const ANSWER = JSON.stringify({ task: 'transcribe', language: 'english', duration: 61.5, text: 'bench' });

/** A form whose model the service has to change, `bytes` long in all. */
function formOf(bytes) {
  const field = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\nfast\r\n`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  const tail = `\r\n${field}--${BOUNDARY}--\r\n`;
  const file = Buffer.alloc(bytes - head.length - tail.length, 'RIFF\r\n--bench');
  return Buffer.concat([Buffer.from(head), file, Buffer.from(tail)]);
}

/** A provider that lets large requests wait until there are `open` of them and a while longer, then counts what comes. */
async function startProvider(open) {
  const received = [];
  const all = Promise.withResolvers();
  let waiting = 0;
  const server = http.createServer(async (request, response) => {
    let bytes = 0;
    if (Number(request.headers['content-length']) > MIB) {
      waiting += 1;
      if (waiting === open) setTimeout(all.resolve, UNREAD_MS);
      await all.promise;
    }
    for await (const chunk of request) bytes += chunk.length;
    received.push(bytes);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length }).end(ANSWER);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { port: server.address().port, received, stop: () => server.close() };
}

/** Sends one transcription; throws when it is not answered with a text. */
function transcribe({ port, path: target, headers }, body, { chunked = false } = {}) {
  return new Promise((resolve, reject) => {
    const framing = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length };
    const type = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    const options = { host: '127.0.0.1', port, path: target, method: 'POST', timeout: PATIENCE_MS };
    const request = http.request({ ...options, headers: { ...headers, ...type, ...framing } }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      if (text.includes('"duration"')) resolve();
      else reject(new Error(`a transcription is answered ${response.statusCode}: ${text.slice(0, 400)}`));
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function startService(tempDir, providerPort, targetPath, settings) {
  const dir = mkdtempSync(path.join(tempDir, 'run-'));
  chmodSync(dir, 0o711);
  const gateway = await launchGateway(dir, settings);
  await addProvider(gateway, providerPort);
  const endpoint = { api_style: 'transcription', provider: 'openai', model: 'whisper-1', fallback: [] };
  const config = {
    authentication: { type: 'api_key' },
    routing: { providers: { mode: 'all' }, model_rewrites: { fast: 'whisper-1' } },
    endpoints: { transcribe: endpoint },
  };
  const { app, api_key: apiKey } = await gateway.manage('/v1/admin/apps', { name: 'Bench', config });
  const { pid, port } = gateway;
  const service = { pid, port, path: targetPath.replace('{app}', app.id), headers: bearer(apiKey.key) };
  for (let call = 0; call < WARM_CALLS; call += 1) await transcribe(service, formOf(1024));
  await sleep(SETTLE_MS);
  return service;
}

/** Sets the kernel's high-water mark of `pid` back to what is resident now (proc(5), clear_refs). */
function forgetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function peakResidentBytes(pid) {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(found?.[1]) * 1024;
}

/** The most the buffers of a probed service have taken since the last call of this. */
async function takePeakHeldBytes(pid, file) {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 10) {
    if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
    await sleep(10);
  }
  throw new Error('the probe does not answer');
}

async function measureResident(service, body, open, options) {
  const before = residentBytes(service.pid);
  forgetPeak(service.pid);
  await Promise.all(Array.from({ length: open }, () => transcribe(service, body, options)));
  return { before, peak: peakResidentBytes(service.pid) };
}

async function measureHeld(service, body, open, options, file) {
  await takePeakHeldBytes(service.pid, file);
  const before = await takePeakHeldBytes(service.pid, file);
  await Promise.all(Array.from({ length: open }, () => transcribe(service, body, options)));
  return { before, peak: await takePeakHeldBytes(service.pid, file) };
}

async function measureCase(tempDir, { bytes, open, targetPath, chunked, isProbed }) {
  const provider = await startProvider(open);
  const body = formOf(bytes);
  const file = path.join(tempDir, `held-${open}`);
  const probe = { NODE_OPTIONS: `--import ${PROBE}`, BENCH_MEMORY_FILE: file };
  const service = await startService(tempDir, provider.port, targetPath, isProbed ? probe : {});
  const { before, peak } = isProbed
    ? await measureHeld(service, body, open, { chunked }, file)
    : await measureResident(service, body, open, { chunked });
  const whole = provider.received.filter((received) => Math.abs(received - bytes) < MIB).length;
  if (whole !== open) throw new Error(`${whole} of ${open} transcriptions reached the provider whole`);
  await stopChildren();
  provider.stop();
  return { what: isProbed ? 'held' : 'resident', open, before, peak, times: (peak - before) / open / bytes };
}

/** @param {{ dir: string, verdicts: object }} bench */
export async function measureTranscriptions({ dir, verdicts }) {
  const options = { mib: USUAL_MIB, opens: USUAL_OPEN, targetPath: ENDPOINT_PATH, chunked: false };
  const most = await measureAll(dir, options);
  verdicts.atMost('memory of a transcription, times its size', most, TARGETS.transcriptionSizes);
  return [{ name: 'this gateway' }];
}

/** @returns the most that any case took, in sizes of one transcription */
async function measureAll(tempDir, { mib, opens, targetPath, chunked }) {
  const bytes = mib * MIB;
  const rows = [];
  for (const isProbed of [false, true]) {
    for (const open of opens) {
      rows.push(await measureCase(tempDir, { bytes, open, targetPath, chunked, isProbed }));
    }
  }
  const inMib = (size) => number(size / MIB, 1);
  const columns = ['MiB', 'open', 'before', 'peak', 'each', 'of its size'];
  const cells = rows.map(({ what, open, before, peak, times }) => {
    return [what, open, inMib(before), inMib(peak), inMib((peak - before) / open), number(times, 2)];
  });
  printTable(`Transcriptions of ${mib} MiB, ${targetPath}${chunked ? ', chunked' : ''}`, columns, cells);
  return Math.max(...rows.map(({ times }) => times));
}

async function main(tempDir) {
  const { values } = parseArgs({
    options: {
      mib: { type: 'string', default: String(USUAL_MIB) },
      open: { type: 'string', default: USUAL_OPEN.join() },
      path: { type: 'string', default: PROXY_PATH },
      chunked: { type: 'boolean', default: false },
    },
  });
  const most = await measureAll(tempDir, {
    mib: Number(values.mib),
    opens: values.open.split(',').map(Number),
    targetPath: values.path,
    chunked: values.chunked,
  });
  return most <= TARGETS.transcriptionSizes ? 0 : 1;
}

/** By itself, with a temporary directory of its own. */
async function run() {
  const tempDir = mkdtempSync(path.join(os.tmpdir(), 'gateway-memory-'));
  chmodSync(tempDir, 0o711);
  const finish = async (exitCode) => {
    await stopChildren();
    rmSync(tempDir, { recursive: true, force: true });
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => finish(130));
  await main(tempDir).then(finish, (error) => {
    console.error(error.message);
    return finish(1);
  });
}

if (import.meta.main) await run();
