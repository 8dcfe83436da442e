#!/usr/bin/env node
import { refusalOfNode } from './program/node-floor.rules.js';

// What an older Node lacks would fail in its own words, while it loads the rest: so that is loaded afterwards.
const refusal = refusalOfNode(process.versions.node);
if (refusal === undefined) {
  const { start } = await import('./program/start.js');
  await start();
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 2;
}
