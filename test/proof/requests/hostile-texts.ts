/** Segments of a path, as in the request target. */
export const PATH_SEGMENTS: readonly string[] = [
  ...['%00', 'a%00b', '%ED%A0%80', '%ED%BF%BFa', '%FF', '%C0%AF', '%C3', '%', '%2', '%zz', '%u0041', '%2500', '%25'],
  ...['.', '..', '%2e', '%2e%2e', '%2e%2e%2f%2e%2e', 'a%2Fb', 'a%5Cb', '%2F', '/', '//', '\\', ';', 'a;b=c', 'a%3Fb'],
  ...['%0d%0aX-Injected:%201', '%0a', '%09', '%20', '%7f', '%C2%85', '%E2%80%AE', '%EF%BB%BF', '%E2%80%A8'],
  ...[
    '%D0%B0pp',
    '%F0%9F%92%A9',
    '%EF%BC%91',
    'A%CC%8A',
    '%C4%B0',
    '\u00e9',
    '|',
    '^',
    '"',
    '<b>',
    '`',
    '{app}',
    ':app',
  ],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'],
  ...[
    'null',
    'undefined',
    'NaN',
    'true',
    '0',
    '-1',
    '1e999',
    '9007199254740993',
    '99999999999999999999999',
    '1.5',
    '[]',
  ],
  ...["'%20OR%20'1'='1", '%27;--', '*', '%25%25', '$%7B7*7%7D', '00000000-0000-0000-0000-000000000000', '@', '~', '!'],
  ...[
    'a'.repeat(300),
    'a'.repeat(1_024),
    'a'.repeat(1_025),
    'a'.repeat(10_000),
    '%61'.repeat(3_000),
    '%00'.repeat(900),
  ],
];

/** Text that no database can store, as in the request target. */
export const UNSTORABLE: readonly string[] = ['%00', 'a%00', '%00b', 'a%00%00', '%C3%00'];

/** Values of a query, as in the request target. */
export const QUERY_VALUES: readonly string[] = [
  ...[
    '',
    '0',
    '-1',
    '1.5',
    '1e999',
    '1e2',
    'NaN',
    'Infinity',
    '-Infinity',
    '0x10',
    '1_000',
    '+1',
    '%201',
    '1%00',
    '1%0a',
  ],
  ...['9007199254740991', '9007199254740993', '9223372036854775807', '9223372036854775808', '2147483648', '4294967296'],
  ...['9'.repeat(40), '%D9%A3', '%EF%BC%91', 'true', 'null', 'undefined', '[]', '{}', '[object%20Object]', '00', '01'],
  ...['%00', 'a%00b', '%ED%A0%80', '%FF', '%C0%80', '%', '%zz', '%C2%85', '%E2%80%AE', '%F0%9F%92%A9', '\u00e9', '%5C'],
  ...["'", "'%20OR%201=1--", '%25', '_', '%5C%25', '%22', '%3Cscript%3E', '$1', '*', ',', 'a,b', '%0d%0aX-Injected:1'],
  ...['0000-01', '0000-01-01', '0001-01', '0001-01-01', '9999-12', '9999-12-31', '2026-02-30', '2026-13', '2026-00-10'],
  ...[
    '10000-01',
    '-001-01-01',
    '2026-1',
    '2026-01-32',
    '2026-01-01T00:00:00Z',
    '1970-01',
    '2026-01%0a',
    '292278994-08-17',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'valueOf',
    'a.b',
    '.',
    '..',
    'a'.repeat(65),
    'a'.repeat(1_025),
    '%61'.repeat(3_000),
  ],
  ...[
    encoded('{"id":"\\u0000"}'),
    encoded('{"__proto__":{"a":1}}'),
    encoded('[[[[]]]]'),
    encoded('\u0000'),
    encoded('9e999'),
  ],
];

/** Names of parameters and members that nobody declares. */
export const STRANGE_NAMES: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', ' ', '.', 'a.b', '0', '-1', 'unknown'],
  ...[
    'n\u0430me',
    'NAME',
    'name ',
    '\u202ename',
    '\u0000',
    '\ud800',
    '\u0085',
    '"',
    '\\',
    'organization_id',
    'role',
    'id',
  ],
  'n'.repeat(5_000),
];

/** Values of JSON as text: ambiguous, unstorable, large or active values. */
export const LITERALS: readonly string[] = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '1',
    '-1',
    '1.5',
    '1e400',
    '-1e400',
    '1e-400',
    '9007199254740993',
    '1E2',
    '1.0',
  ],
  ...['2147483648', '9223372036854775808', '9'.repeat(400), `0.${'0'.repeat(400)}1`, '4294967296', '1e308', '5e-324'],
  ...[
    '""',
    '" "',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"a\\udc00b"',
    '"\\ud83d\\udca9"',
    '"\\u0085"',
    '"\\u202e"',
  ],
  ...[
    '"\\u2028"',
    '"\\ufeff"',
    '"\\u001b[31m"',
    '"\\r\\nX-Injected: 1"',
    '"n\u0430me"',
    '"%00"',
    '"\u00e9\u0301"',
    '"\\\\"',
  ],
  ...['"__proto__"', '"constructor"', '"toString"', '"null"', '"NaN"', '"-1"', '"1e999"', '"2026-02-30"', '"0000-01"'],
  ...[
    '"9999-12"',
    '"..\\/..\\/etc"',
    '"\' OR 1=1--"',
    '"$1"',
    '"{{7*7}}"',
    '"http:\\/\\/169.254.169.254\\/"',
    '"//[::1]"',
  ],
  ...[
    '"https:\\/\\/[::ffff:169.254.169.254]\\/"',
    '"https:\\/\\/127.1:1\\/"',
    '"javascript:alert(1)"',
    '"https:\\/\\/a@127.0.0.1\\/"',
  ],
  ...['[]', '{}', '[[]]', '[null]', '[{}]', '{"":{}}', '{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}'],
  ...['{"toJSON":1}', '{"length":1e9}', '{"then":1}', '{"a":1,"a":2}', '{"\\u0000":1}', '{"type":{"type":"object"}}'],
  ...[
    nested(10_000, '[', ']'),
    nested(60, '{"a":', '}'),
    nested(66, '[', ']'),
    `[${'0,'.repeat(30_000)}0]`,
    `[${'1,'.repeat(1_001)}1]`,
  ],
  ...[
    text(65),
    text(101),
    text(129),
    text(257),
    text(1_025),
    text(4_097),
    text(100_000),
    `"${'\u20ac'.repeat(5_000)}"`,
  ],
];

function encoded(json: string): string {
  return Buffer.from(json).toString('base64url');
}

function nested(levels: number, open: string, close: string): string {
  return `${open.repeat(levels)}${open === '[' ? '' : '0'}${close.repeat(levels)}`;
}

function text(length: number): string {
  return JSON.stringify('x'.repeat(length));
}
