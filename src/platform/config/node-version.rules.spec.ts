import { describe, expect, it } from '@jest/globals';
import { nodeVersionProblem } from './node-version.rules.js';

describe('Node floor', () => {
  it.each(['24.18.1', '24.18.2', '24.21.0', '25.0.0', '26.10.0'])('%s → may run the service', (version) => {
    expect(nodeVersionProblem(version)).toBeUndefined();
  });

  it.each(['24.18.0', '24.9.9', '23.11.0', '22.23.3', '20.20.2', '18.0.0', 'nonsense'])(
    '%s → refused with what to do',
    (version) => {
      expect(nodeVersionProblem(version)).toMatch(/too old.*npm start/);
    },
  );
});
