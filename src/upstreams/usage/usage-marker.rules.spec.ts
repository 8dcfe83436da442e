import { describe, expect, it } from '@jest/globals';
import { indexOfDuration, indexOfUsage } from './usage-marker.rules.js';

describe('indexOfUsage', () => {
  it.each([
    ['{"usage":{}', 1],
    ['{"usageMetadata" : {', 1],
    ['{"usage":null,"x":{"usage":{', 19],
    ['"usage":\r\ndata: {', 0],
    ['"usage":null', -1],
    ['"usage":"{"', -1],
    ['"usage":[{}]', -1],
    ['"usages":{}', -1],
    ['"usage"{', -1],
    ['\\"usage\\":{', -1],
    ['"usage":', -1],
    ['"usage', -1],
    ['', -1],
  ])('%j → %i', (text, index) => {
    expect(indexOfUsage(Buffer.from(text))).toBe(index);
  });

  it('a very long run of broken lines → passed over without a stack overflow', () => {
    const text = `"usage":${'data:'.repeat(200_000)}{`;
    expect(indexOfUsage(Buffer.from(text))).toBe(0);
  });
});

describe('indexOfDuration', () => {
  it.each([
    ['"duration": 1', 0],
    ['"duration":-1', 0],
    ['"duration":"1","duration":2', 15],
    ['"duration":null', -1],
    ['"duration":', -1],
  ])('%j → %i', (text, index) => {
    expect(indexOfDuration(Buffer.from(text))).toBe(index);
  });
});
