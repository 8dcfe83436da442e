import { describe, expect, it } from '@jest/globals';
import {
  type CallVerdict,
  type HealthChange,
  joined,
  judged,
  NO_CALLS,
  NO_HEALTH,
  type ProviderHealthState,
  type ProviderReport,
  withCall,
} from './provider-health.rules.js';

const START_MS = 1_763_600_040_000;
const SECOND = 1_000;

const calls = (count: number, verdict: CallVerdict) => Array.from({ length: count }, () => verdict);
const reportOf = (verdicts: readonly CallVerdict[]): ProviderReport => verdicts.reduce(withCall, NO_CALLS);

/** A provider whose reports are evaluated one after the other. */
class Watched {
  state: ProviderHealthState = NO_HEALTH;
  #nowMs = START_MS;

  report(...verdicts: readonly (readonly CallVerdict[])[]): HealthChange | undefined {
    const { state, change } = judged(this.state, reportOf(verdicts.flat()), this.#nowMs);
    this.state = state;
    return change;
  }

  wait(seconds: number): this {
    this.#nowMs += seconds * SECOND;
    return this;
  }
}

const failing = { type: 'provider.failing', reason: 'errors' };
const recovered = { type: 'provider.recovered', reason: 'errors' };

describe('a provider', () => {
  it.each([
    ['half of 20 calls fail', 10, 10, { ...failing, calls: 20, errors: 10 }],
    ['less than half fail', 11, 9, undefined],
    ['all of 19 calls fail', 0, 19, undefined],
    ['all of 20 calls fail', 0, 20, { ...failing, calls: 20, errors: 20 }],
  ])('%s → reported or not', (_what, good, errors, change) => {
    expect(new Watched().report(calls(good, 'good'), calls(errors, 'error'))).toEqual(change);
  });

  it('20 errors over more than a minute → not failing; within a minute, in several reports → failing', () => {
    const slow = new Watched();
    for (let time = 0; time < 20; time++) expect(slow.wait(5).report(calls(1, 'error'))).toBeUndefined();
    const fast = new Watched();
    for (let time = 0; time < 19; time++) expect(fast.wait(2).report(calls(1, 'error'))).toBeUndefined();
    expect(fast.wait(2).report(calls(1, 'error'))).toMatchObject(failing);
  });

  it('its key is refused → failing at once, and reported once', () => {
    const watched = new Watched();
    expect(watched.report(['key_refused'])).toEqual({
      ...failing,
      ...{ reason: 'key_refused', calls: 1, errors: 1 },
    });
    expect(watched.wait(1).report(calls(50, 'key_refused'))).toBeUndefined();
  });

  it('20 successful calls in a row, over several reports → recovered; one error between them → not', () => {
    const watched = new Watched();
    watched.report(calls(20, 'error'));
    expect(watched.wait(1).report(calls(19, 'good'))).toBeUndefined();
    expect(watched.report(['error'], calls(19, 'good'))).toBeUndefined();
    expect(watched.report(['good'])).toMatchObject(recovered);
  });

  it('less than a tenth fails for a minute, without 20 successful calls in a row → recovered', () => {
    const watched = new Watched();
    watched.report(calls(20, 'error'));
    const mixed = [...calls(15, 'good'), 'error', ...calls(15, 'good')] as const;
    expect(watched.wait(30).report(mixed.slice(0, 16))).toBeUndefined();
    expect(watched.wait(29).report(mixed.slice(16, 17))).toBeUndefined();
    expect(watched.wait(2).report(mixed.slice(17, 20))).toMatchObject({ ...recovered, calls: 20, errors: 1 });
  });

  it('no calls for a minute → still failing, until one succeeds', () => {
    const watched = new Watched();
    watched.report(calls(20, 'error'));
    expect(watched.wait(300).report(['error'])).toBeUndefined();
    expect(watched.wait(300).report(['good'])).toMatchObject(recovered);
  });

  it('recovered while earlier errors are less than a minute old → failing again only because of new ones', () => {
    const watched = new Watched();
    watched.report(calls(100, 'error'));
    expect(watched.wait(1).report(calls(20, 'good'))).toMatchObject(recovered);
    expect(watched.report(calls(10, 'good'), calls(9, 'error'))).toBeUndefined();
    expect(watched.report(['error'])).toMatchObject(failing);
  });

  it('a clock that goes back → the counts are kept', () => {
    const watched = new Watched();
    watched.report(calls(10, 'error'));
    expect(watched.wait(-30).report(calls(10, 'error'))).toMatchObject({ ...failing, calls: 20 });
  });

  it('many reports → at most a minute of counts is stored', () => {
    const watched = new Watched();
    for (let time = 0; time < 500; time++) watched.wait(1).report(['good']);
    expect(watched.state.goodInARow).toBe(20);
    expect(watched.state.slots.length).toBeLessThanOrEqual(12);
  });
});

it('two reports of one instance → as one report of all their calls', () => {
  const parts: readonly (readonly CallVerdict[])[] = [[], ['good', 'good'], ['error', 'good'], ['key_refused', 'good']];
  for (const one of parts)
    for (const other of parts) {
      expect(joined(reportOf(one), reportOf(other))).toEqual(reportOf([...one, ...other]));
    }
});
