import nodeModule from 'node:module';
import { join } from 'node:path';
import { nodeVersionProblem } from './platform/config/node-version.rules.js';

/** Loads what a start loads, and exits: the build and the image do this, so that the first start finds it compiled. */
const COMPILE_ONLY = '--compile-only';

/** Imports nothing newer before the version check, which would fail first. */
const problem = nodeVersionProblem(process.versions.node);
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  nodeModule.enableCompileCache(join(import.meta.dirname, '..', '.compile-cache'));
  // Without `await`: the bundle is CommonJS (ADR 0066).
  void import('./bootstrap/process.js').then(({ runProcess }) => {
    if (!process.argv.includes(COMPILE_ONLY)) return runProcess();
  });
}
