/**
 * Preloaded into a measured service (see transcription-memory.mjs): collects garbage all the time, so that what its
 * buffers take is what is really held, and keeps the most it has seen. SIGUSR2 writes that, in bytes, to the file that
 * BENCH_MEMORY_FILE names, and begins again.
 */
import { renameSync, writeFileSync } from 'node:fs';
import v8 from 'node:v8';
import vm from 'node:vm';

const SAMPLE_EVERY_MS = 5;

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');
const file = process.env.BENCH_MEMORY_FILE;
let peakBytes = 0;

function sample() {
  collectGarbage();
  peakBytes = Math.max(peakBytes, process.memoryUsage().arrayBuffers);
}

setInterval(sample, SAMPLE_EVERY_MS).unref();
process.on('SIGUSR2', () => {
  sample();
  writeFileSync(`${file}.new`, String(peakBytes));
  renameSync(`${file}.new`, file);
  peakBytes = 0;
});
