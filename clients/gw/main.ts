#!/usr/bin/env node
import { refusalOfNode } from './program/node-floor.rules.js';

// An older Node would fail with an obscure error while loading the rest, so that is loaded after the check.
const refusal = refusalOfNode(process.versions.node);
if (refusal === undefined) {
  const { start } = await import('./program/start.js');
  await start();
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 2;
}
