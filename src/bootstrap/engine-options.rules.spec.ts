import { expect, it } from '@jest/globals';
import { engineOptions, engineOptionsProblem } from './engine-options.rules.js';

it.each(['24.18.1', '24.21.0', '24.99.0'])('Node %s → options', (version) => {
  expect(engineOptions(version)).toContain('--max-semi-space-size=16');
});

it.each(['2.24.0', '25.0.0', '26.1.0', '240.0.0'])(
  'Node %s, which was not measured → no options, and a notice',
  (version) => {
    expect(engineOptions(version)).toEqual([]);
    expect(engineOptionsProblem(version, [])).toBe(`they were measured with Node 24, and this is Node ${version}`);
  },
);

it('started with all of them → no problem, whatever other options are set', () => {
  expect(engineOptionsProblem('24.21.0', ['--enable-source-maps', ...engineOptions('24.21.0')])).toBeUndefined();
});

it('started without some → names them', () => {
  const [first, ...others] = engineOptions('24.21.0');
  expect(engineOptionsProblem('24.21.0', others)).toBe(`the process was started without ${first}`);
});
