import { expect, it } from '@jest/globals';
import { engineOptions } from '../../src/bootstrap/engine-options.rules.js';
import { programAnswer } from '../support/platform/program-answer.js';

const codeOf = (...options: readonly string[]) =>
  programAnswer('kept-code', [], ['--allow-natives-syntax', ...options]);

it('a function whose objects were collected in an idle process → still optimized, only with the options of ADR 0063', async () => {
  const options = engineOptions(process.versions.node);
  const others = options.filter((option) => option !== '--no-memory-reducer-favors-memory');
  const [tuned, untuned] = await Promise.all([codeOf(...options), codeOf(...others)]);
  expect(tuned).toEqual({ before: true, after: true, wasCollected: true });
  expect(untuned).toEqual({ before: true, after: false, wasCollected: true });
});
