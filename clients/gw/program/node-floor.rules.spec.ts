import { expect, it } from '@jest/globals';
import { refusalOfNode } from './node-floor.rules.js';

it.each(['20.19.0', '20.19.5', '20.20.0', '22.0.0', '24.18.1', '100.0.0'])('Node %s → runs', (version) => {
  expect(refusalOfNode(version)).toBeUndefined();
});

it.each(['20.18.9', '20.9.0', '18.20.0', '4.0.0'])('Node %s → one sentence with both versions', (version) => {
  expect(refusalOfNode(version)).toBe(`gw needs Node 20.19.0 or newer; this is Node ${version}.`);
});
