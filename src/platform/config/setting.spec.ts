import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Secret } from '../../common/log/secret.js';
import {
  addressRanges,
  baseAddress,
  bearerToken,
  brandedSecret,
  declaredSettings,
  flag,
  int,
  oneOf,
  origin,
  positive,
  postgresUrl,
  redisUrl,
  Setting,
  type SettingParser,
  SettingProblem,
  text,
  webAddress,
} from './setting.js';

function problemOf(parse: SettingParser<unknown>, value: string): string {
  try {
    parse(value);
  } catch (error) {
    if (error instanceof SettingProblem) return error.message;
    throw error;
  }
  throw new Error('a problem was expected');
}

const PARSERS: [string, SettingParser<unknown>][] = [
  ['int', int(1, 9)],
  ['positive', positive(9)],
  ['oneOf', oneOf(['info', 'warn'])],
  ['origin', origin()],
  ['flag', flag()],
  ['webAddress', webAddress()],
  ['postgresUrl', postgresUrl()],
  ['brandedSecret', brandedSecret({ brand: 'gw_', min: 1, max: 9 })],
  ['bearerToken', bearerToken(16)],
];

describe.each(PARSERS)('%s', (_name, parse) => {
  it('any text → a value, or a problem that does not repeat the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl(), fc.string()), (value) => {
        try {
          parse(value);
        } catch (error) {
          expect(error).toBeInstanceOf(SettingProblem);
          if (value.length > 15) expect(String(error)).not.toContain(value);
        }
      }),
    );
  });
});

describe('numbers', () => {
  it.each([
    ['0', 0],
    [' 42 ', 42],
    ['007', 7],
    ['65535', 65_535],
  ])('int "%s" → %i', (value, number) => {
    expect(int(0, 65_535)(value)).toBe(number);
  });

  it.each(['-1', '65536', '1.0', '1e3', '0x10', '1_000', '', 'many', '٣', '9'.repeat(400)])(
    'int "%s" → problem',
    (value) => {
      expect(problemOf(int(0, 65_535), value)).toBe('must be a whole number from 0 to 65535');
    },
  );

  it.each([
    ['0.5', 0.5],
    ['120', 120],
    [' 3600.0 ', 3_600],
  ])('positive "%s" → %d', (value, number) => {
    expect(positive(3_600)(value)).toBe(number);
  });

  it.each(['0', '0.0', '-1', '3600.1', '.5', '5.', '1e2', 'Infinity', 'NaN'])('positive "%s" → problem', (value) => {
    expect(problemOf(positive(3_600), value)).toBe('must be a number above 0 and at most 3600');
  });
});

describe('words and text', () => {
  it('text → without surrounding blanks', () => {
    expect(text()('  ./.data \n')).toBe('./.data');
  });

  it('oneOf: a listed word → itself; any other, even in another case → problem', () => {
    const parse = oneOf(['info', 'warn']);
    expect(parse(' warn ')).toBe('warn');
    for (const value of ['WARN', 'trace', '', 'constructor'])
      expect(problemOf(parse, value)).toBe('must be one of info, warn');
  });
});

describe('yes or no', () => {
  it('flag: true, false → themselves; any other word → problem', () => {
    expect([flag()(' true '), flag()('false')]).toEqual([true, false]);
    for (const value of ['yes', 'TRUE', '1', '0', '']) expect(problemOf(flag(), value)).toBe('must be true or false');
  });
});

describe('addresses', () => {
  it('webAddress → the page; credentials, other protocols and invalid URLs → problem', () => {
    expect(webAddress()(' https://a.example/terms?v=2#top ')).toBe('https://a.example/terms?v=2#top');
    for (const value of ['https://u:p@a.example', 'javascript:alert(1)', 'ftp://a.example', 'a.example/terms', '']) {
      expect(problemOf(webAddress(), value)).toContain('must be an http or https address');
    }
  });

  it.each([
    ['https://gateway.example.com', 'https://gateway.example.com'],
    ['https://Gateway.Example.com:443/', 'https://gateway.example.com'],
    [' http://localhost:8080 ', 'http://localhost:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('origin "%s" → %s', (value, expected) => {
    expect(origin()(value)).toBe(expected);
  });

  it.each([
    'ftp://a.example',
    'gateway.example.com',
    'localhost:8080',
    '//a.example',
    'https://',
    'javascript:alert(1)',
  ])('origin "%s" → not an http origin', (value) =>
    expect(problemOf(origin(), value)).toContain('must be an http or https origin'),
  );

  it.each([
    'https://a.example/x',
    'https://a.example?x=1',
    'https://a.example#x',
    'https://u:p@a.example',
    'https://u@a.example',
  ])('origin "%s" → more than an origin', (value) =>
    expect(problemOf(origin(), value)).toContain('must be an origin only'),
  );

  it.each(['postgres://u:private@db.internal:5432/gw?sslmode=require', ' postgresql:///gw '])(
    'postgresUrl "%s" → a secret that holds it',
    (value) => {
      const secret = postgresUrl()(value);
      expect(secret.reveal()).toBe(value.trim());
      expect(`${secret}`).toBe('[secret]');
    },
  );

  it.each(['mysql://u:private@db/gw', 'host=db password=private', 'https://db'])(
    'postgresUrl "%s" → problem',
    (value) => {
      expect(problemOf(postgresUrl(), value)).toBe('must be a postgres:// connection string');
    },
  );
});

describe('addresses of Redis', () => {
  it.each(['redis://:p%2Fw@127.0.0.1:6380/2', 'redis+sentinel://a,b?name=main', 'rediss+cluster://:private@a:7000,b'])(
    '" %s " → a secret that holds it',
    (value) => {
      expect(redisUrl()(` ${value} `).reveal()).toBe(value);
      expect(`${redisUrl()(value)}`).toBe('[secret]');
    },
  );

  it('anything else → the forms, not the value', () => {
    const problem = problemOf(redisUrl(), 'redis://private?tls=false');
    expect(problem).toContain('must be redis[s]://[user:password@]host[:port][/database]');
    expect(problem).not.toContain('private');
  });
});

describe('address ranges', () => {
  it('addresses and networks, separated by commas or blanks → ranges', () => {
    const ranges = addressRanges()(' 10.0.0.0/8,192.0.2.7\n2001:db8::/32 ::1,, ::ffff:192.0.2.8');
    expect(ranges.map(([address, bits]) => `${address}/${bits}`)).toEqual([
      '10.0.0.0/8',
      '192.0.2.7/32',
      '2001:db8::/32',
      '::1/128',
      '192.0.2.8/32',
    ]);
  });

  it.each([
    'proxy.internal',
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0/8',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.1:80',
    '10.0.0.1, x',
  ])('"%s" → problem', (value) => {
    expect(problemOf(addressRanges(), value)).toBe(
      'must be addresses or CIDR ranges separated by commas, none of them /0',
    );
  });
});

describe('addresses that the service calls', () => {
  it.each([
    [origin(), 'http://169.254.169.254'],
    [origin(), 'https://metadata.google.internal'],
    [baseAddress(), 'http://0xa9fea9fe/v1'],
    [baseAddress(), 'https://[fd00:ec2::254]/'],
  ])('%s %s → a metadata address', (parse, value) => {
    expect(problemOf(parse, value)).toBe('must not be a cloud metadata address');
  });
});

describe('secrets', () => {
  const parse = brandedSecret({ brand: 'gw_mgmt_', min: 4, max: 6 });

  it.each(['gw_mgmt_abcd', 'gw_mgmt_aB9-_z', ' gw_mgmt_abcd\n'])(
    '%j: a valid form → a secret, without blanks',
    (value) => {
      expect(parse(value)).toBeInstanceOf(Secret);
      expect(parse(value).reveal()).toBe(value.trim());
    },
  );

  it.each([
    ['private', 'must begin with gw_mgmt_'],
    ['xgw_mgmt_abcd', 'must begin with gw_mgmt_'],
    ['GW_MGMT_abcd', 'must begin with gw_mgmt_'],
    ['gw_mgmt_', 'must have at least 4 characters after gw_mgmt_'],
    ['gw_mgmt_abc', 'must have at least 4 characters after gw_mgmt_'],
    ['gw_mgmt_abcdefg', 'must have at most 6 characters after gw_mgmt_'],
    [`gw_mgmt_${'a'.repeat(300)}`, 'must have at most 6 characters after gw_mgmt_'],
    ['gw_mgmt_ab cd', 'must have only letters, digits, "_" and "-" after gw_mgmt_'],
    ['gw_mgmt_äöüß', 'must have only letters, digits, "_" and "-" after gw_mgmt_'],
    [`gw_mgmt_${'+'.repeat(300)}`, 'must have only letters, digits, "_" and "-" after gw_mgmt_'],
  ])('%j → the rule it breaks, not the value', (value, problem) => {
    expect(problemOf(parse, value)).toBe(problem);
  });

  it.each([
    ['short', 'must be at least 16 bytes'],
    ['a token of two words', 'must be printable ASCII without spaces, as a header carries it'],
    ['ein-schlüssel-für-metriken', 'must be printable ASCII without spaces, as a header carries it'],
  ])('bearer token %j → the rule it breaks, not the value', (value, problem) => {
    expect(problemOf(bearerToken(16), value)).toBe(problem);
  });

  it('bearer token that a header can carry → a secret', () => {
    expect(bearerToken(16)(' !0123456789abcde~ ').reveal()).toBe('!0123456789abcde~');
  });
});

describe('declaring', () => {
  it('decorated properties → declared by name, in order, with their options', () => {
    class Own {
      @Setting({ description: 'First.', parse: int(0, 9), fallback: 1 })
      readonly FIRST: number;

      @Setting({ description: 'Second.', parse: text(), fallbackText: 'unset' })
      readonly SECOND: string | undefined;
    }
    expect(Object.keys(new Own())).toEqual([]);
    expect(declaredSettings()).toMatchObject([
      { name: 'FIRST', description: 'First.', fallback: 1 },
      { name: 'SECOND', description: 'Second.', fallbackText: 'unset' },
    ]);
  });
});
