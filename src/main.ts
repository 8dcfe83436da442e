import { nodeVersionProblem } from './platform/config/node-floor.rules.js';

/** Nothing else may be imported before the version is known to be good: newer syntax and libraries would crash first. */
const problem = nodeVersionProblem(process.versions.node);
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  const { runProcess } = await import('./bootstrap/process.js');
  await runProcess();
}
