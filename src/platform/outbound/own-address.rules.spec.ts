import { expect, it } from '@jest/globals';
import { reachedAt, reachesListener } from './own-address.rules.js';

const PORT = 8080;
const MACHINE = () => ['127.0.0.1', '10.0.0.5', '::1', '2001:db8::5', 'fe80::1'];

const cases: readonly [bound: string, dialled: string, reached: boolean][] = [
  ['127.0.0.1', '127.0.0.1', true],
  ['127.0.0.1', '::ffff:127.0.0.1', true],
  ['127.0.0.1', '::ffff:7f00:1', true],
  ['127.0.0.1', '0.0.0.0', true],
  ['127.0.0.1', 'localhost', true],
  ['127.0.0.1', 'gateway.localhost', true],
  ['127.0.0.1', 'notlocalhost', false],
  ['127.0.0.1', '127.0.0.2', false],
  ['127.0.0.1', '::1', false],
  ['127.0.0.1', '10.0.0.5', false],
  ['::1', '::1', true],
  ['::1', '::', true],
  ['::1', '0:0:0:0:0:0:0:1', true],
  ['::1', 'localhost', true],
  ['::1', '127.0.0.1', false],
  ['10.0.0.5', '10.0.0.5', true],
  ['10.0.0.5', '::ffff:10.0.0.5', true],
  ['10.0.0.5', '127.0.0.1', false],
  ['10.0.0.5', 'localhost', false],
  ['::ffff:10.0.0.5', '10.0.0.5', true],
  ['0.0.0.0', '127.0.0.1', true],
  ['0.0.0.0', '127.8.8.8', true],
  ['0.0.0.0', '0.0.0.0', true],
  ['0.0.0.0', '10.0.0.5', true],
  ['0.0.0.0', '::ffff:10.0.0.5', true],
  ['0.0.0.0', '10.0.0.6', false],
  ['0.0.0.0', '::1', false],
  ['0.0.0.0', '2001:db8::5', false],
  ['0.0.0.0', 'localhost', true],
  ['::', '127.0.0.1', true],
  ['::', '::1', true],
  ['::', '::', true],
  ['::', '10.0.0.5', true],
  ['::', '2001:0db8:0::0005', true],
  ['::', '2001:db8::6', false],
  ['::', 'provider.example.com', false],
];

it.each(cases)('a listener at %s, dialled at %s → reached: %p; never on another port', (bound, dialled, reached) => {
  const listener = { address: bound, port: PORT };
  expect(reachesListener(listener, dialled, PORT, MACHINE)).toBe(reached);
  expect(reachesListener(listener, dialled, PORT + 1, MACHINE)).toBe(false);
});

it.each([
  ['127.0.0.1', ['127.0.0.1:8080']],
  ['10.0.0.5', ['10.0.0.5:8080']],
  ['0.0.0.0', ['127.0.0.1:8080', '10.0.0.5:8080']],
  ['::', ['127.0.0.1:8080', '10.0.0.5:8080', '[::1]:8080', '[2001:db8::5]:8080']],
  ['a pipe', []],
])('bound to %s → reached at %j', (address, expected) => {
  expect(reachedAt({ address, port: PORT }, MACHINE)).toEqual(expected);
});
