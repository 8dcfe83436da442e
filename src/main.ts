import { nodeVersionProblem } from './platform/config/node-floor.rules.js';

/** Imports nothing else before the version check: newer syntax and libraries would fail first. */
const problem = nodeVersionProblem(process.versions.node);
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  const { runProcess } = await import('./bootstrap/process.js');
  await runProcess();
}
