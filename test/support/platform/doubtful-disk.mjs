/**
 * The built service on a disk of which it is known what it has for good. Forcing a file to it takes `TEST_DISK_MS`;
 * then `TEST_DISK_FILE` says how many bytes of which file would survive a loss of power, before the service hears of
 * it. From one SIGUSR2 to the next it fails. `syncs` says how often anything was forced to it.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { fdatasync } = fs;
const safe = {};
let fails = false;

process.on('SIGUSR2', () => {
  fails = !fails;
});

fs.fdatasync = (descriptor, done) => {
  if (fails) {
    setImmediate(() => done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })));
    return;
  }
  const file = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  const { size } = fs.fstatSync(descriptor);
  setTimeout(() => {
    fdatasync(descriptor, (error) => {
      if (error === null) safe[file] = size;
      safe.syncs = (safe.syncs ?? 0) + 1;
      // Whoever reads it never finds half of it.
      fs.writeFileSync(`${process.env.TEST_DISK_FILE}.new`, JSON.stringify(safe));
      fs.renameSync(`${process.env.TEST_DISK_FILE}.new`, process.env.TEST_DISK_FILE);
      done(error);
    });
  }, Number(process.env.TEST_DISK_MS));
};
syncBuiltinESMExports();

await import('../../../dist/server/main.js');
