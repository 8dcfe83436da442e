/**
 * Runs one line of the built `gw` after another, on request of its parent: what a process of its own for each line
 * costs is mostly the start of Node. A line has its own folder, environment, arguments and standard streams.
 *
 * Takes `{words, cwd, env, input}`, answers `{exitCode, stdout, stderr}`.
 */
import { Readable, Writable } from 'node:stream';

const PROGRAM = new URL('../../../dist/gw/gw.js', import.meta.url).href;
let lines = 0;

process.on('message', async ({ words, cwd, env, input }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv.splice(2, Infinity, ...words);
  const stdout = new Collected();
  const stderr = new Collected();
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout, stderr };
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true });
  process.exitCode = undefined;
  // A module with another address is evaluated again; what it imports is not.
  await import(`${PROGRAM}?line=${lines++}`);
  for (const event of ['SIGINT', 'uncaughtException']) process.removeAllListeners(event);
  process.send({ exitCode: process.exitCode ?? 0, stdout: stdout.text, stderr: stderr.text });
  process.exitCode = undefined;
});

class Collected extends Writable {
  #chunks = [];

  get text() {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  _write(chunk, _encoding, done) {
    this.#chunks.push(chunk);
    done();
  }
}
