import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../../common/clock.js';
import { Log } from '../../../common/log/log.js';
import { loadEnvironment } from '../../../platform/config/environment.js';
import { androidRootsOf } from './android-roots.js';

describe('roots of Android key attestation', () => {
  it('unset → the vendor’s two keys, and no log line', () => {
    const lines: unknown[] = [];
    const { roots } = androidRootsOf(
      loadEnvironment({}),
      new Log(new SystemClock(), 'debug', (line) => lines.push(line)),
    );
    expect(roots.map(({ subject, key }) => [subject, key.asymmetricKeyType])).toEqual([
      ['serialNumber=f92009e853b6b045', 'rsa'],
      ['CN=Key Attestation CA1, OU=Android, O=Google LLC, C=US', 'ec'],
    ]);
    expect(roots[0]?.key.asymmetricKeyDetails).toMatchObject({ modulusLength: 4096 });
    expect(roots[1]?.key.asymmetricKeyDetails).toMatchObject({ namedCurve: 'secp384r1' });
    expect(lines).toEqual([]);
  });
});
