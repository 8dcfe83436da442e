import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Secret } from '../common/log/secret.js';
import { OwnAddresses } from '../platform/outbound/own-addresses.js';
import { parseTrustedHosts } from '../platform/outbound/trusted-hosts.rules.js';
import { outcomeOf, parseEventFilter, parseWebhookUrl, signedHeaders } from './webhook.rules.js';

/** The published test vector of Standard Webhooks. Source: https://www.standardwebhooks.com. */
const VECTOR = {
  secret: new Secret('whsec_plJ3nmyCDGBKInavdOK15jsl'),
  id: 'msg_loFOjxBNrRLzqYUf',
  timestampSeconds: 1_731_705_121,
  body: '{"event_type":"ping","data":{"success":true}}',
  signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
};

describe('signedHeaders', () => {
  it('the test vector of Standard Webhooks → its signature', () => {
    expect(signedHeaders(VECTOR, [VECTOR.secret])).toEqual({
      'content-type': 'application/json',
      'webhook-id': VECTOR.id,
      'webhook-timestamp': '1731705121',
      'webhook-signature': VECTOR.signature,
    });
  });

  it('two secrets → two signatures, the current one first', () => {
    const other = new Secret(`whsec_${Buffer.alloc(32, 1).toString('base64')}`);
    const signatures = signedHeaders(VECTOR, [other, VECTOR.secret])['webhook-signature']?.split(' ');
    expect(signatures).toHaveLength(2);
    expect(signatures?.[1]).toBe(VECTOR.signature);
    expect(signatures?.[0]).not.toBe(VECTOR.signature);
  });
});

describe('a captured delivery, verified by the Standard Webhooks library', () => {
  const body = '{"type":"budget.exhausted"}';
  const nowSeconds = () => Math.floor(Date.now() / 1_000);
  const sent = (ageSeconds = 0, secrets = [VECTOR.secret]) =>
    signedHeaders({ id: 'evt_1', body, timestampSeconds: nowSeconds() - ageSeconds }, secrets);
  const verify = (headers: Record<string, string>, text = body) =>
    new Webhook(VECTOR.secret.reveal()).verify(text, headers);

  it('recent and unchanged → accepted', () => expect(verify(sent())).toEqual(JSON.parse(body)));

  it.each<[string, () => unknown]>([
    ['replayed after six minutes', () => verify(sent(360))],
    ['from the future', () => verify(sent(-360))],
    ['replayed under a new time', () => verify({ ...sent(360), 'webhook-timestamp': String(nowSeconds()) })],
    ['replayed under a new id', () => verify({ ...sent(), 'webhook-id': 'evt_2' })],
    ['with another body', () => verify(sent(), `${body} `)],
    ['signed for another webhook', () => verify(sent(0, [new Secret(`whsec_${Buffer.alloc(32).toString('base64')}`)]))],
    ['without a signature', () => verify({ ...sent(), 'webhook-signature': '' })],
  ])('%s → refused', (_name, judged) => expect(judged).toThrow());
});

describe('outcomeOf', () => {
  const after = (status: number | null, attempts: number, random = 0) =>
    outcomeOf({ status, durationMs: 1 }, attempts, random);

  it.each([200, 204, 299])('%i → delivered', (status) => {
    expect(after(status, 0)).toEqual({ status: 'delivered' });
  });

  it('410 → disabled, at any attempt', () => {
    for (const attempts of [0, 5, 20]) expect(after(410, attempts)).toEqual({ status: 'disabled' });
  });

  it.each([null, 100, 199, 300, 302, 400, 404, 409, 429, 500, 503])('%p → retried, later each time', (status) => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((attempts) => {
      const outcome = after(status, attempts);
      return outcome.status === 'pending' ? outcome.inMs : -1;
    });
    expect(waits).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map((s) => s * 1_000));
    expect(after(status, 9)).toEqual({ status: 'failed' });
    expect(after(status, 10)).toEqual({ status: 'failed' });
  });

  it('jitter → at most a tenth longer, never shorter', () => {
    expect(after(500, 0, 0.999)).toEqual({ status: 'pending', inMs: 5_500 });
    expect(after(500, 0, 0.5)).toEqual({ status: 'pending', inMs: 5_250 });
  });
});

describe('parseWebhookUrl', () => {
  const own = new OwnAddresses('https://gateway.example.com');
  const parse = (url: string, trusted = '') => parseWebhookUrl(url, { trusted: parseTrustedHosts(trusted), own });

  it.each([
    ['https://hooks.acme.com', 'https://hooks.acme.com/'],
    ['https://hooks.acme.com:8443/a/b?token=x%20y', 'https://hooks.acme.com:8443/a/b?token=x%20y'],
    ['HTTPS://Hooks.Acme.COM/A', 'https://hooks.acme.com/A'],
  ])('%s → %s', (url, called) => {
    expect(parse(url)).toBe(called);
  });

  it.each([
    ['', 'must be an https URL'],
    ['hooks.acme.com', 'must be an https URL'],
    ['ftp://hooks.acme.com', 'must be an https URL'],
    ['http://hooks.acme.com', 'must use https'],
    ['https://user:pass@hooks.acme.com', 'must not contain credentials'],
    ['https://hooks.acme.com/#part', 'must not contain a fragment'],
    ['https://hooks.acme.com/a b', 'must be printable ASCII'],
    ['https:\\\\hooks.acme.com', 'must be printable ASCII'],
    ['https://häus.de/', 'must be printable ASCII'],
    ['https://169.254.169.254/latest', 'must not be a cloud metadata address'],
    ['https://metadata.google.internal/', 'must not be a cloud metadata address'],
    ['https://127.0.0.1/', 'must name a host, not an address'],
    ['https://2130706433/', 'must name a host, not an address'],
    ['https://[::1]/', 'must name a host, not an address'],
    ['https://localhost/', 'must be a full host name'],
    ['https://db.internal/', 'must be a public host'],
    ['https://gateway.example.com/v1', 'must not be an address of this gateway'],
    [`https://hooks.acme.com/${'a'.repeat(2_000)}`, 'must be at most 2000 characters long'],
  ])('%s → refused', (url, problem) => {
    expect(() => parse(url)).toThrow(expect.objectContaining({ message: expect.stringContaining(`url: ${problem}`) }));
  });

  it('a trusted private host → accepted, even over plain http; metadata addresses → never', () => {
    expect(parse('http://10.0.0.7:9000/in', '10.0.0.0/8')).toBe('http://10.0.0.7:9000/in');
    expect(() => parse('http://169.254.169.254/', '169.254.0.0/16')).toThrow('metadata');
  });
});

describe('parseEventFilter', () => {
  it('absent or null → every event; types and prefixes → each once', () => {
    expect(parseEventFilter(undefined)).toBeNull();
    expect(parseEventFilter(null)).toBeNull();
    expect(parseEventFilter(['app_key.*', 'member.joined', 'app_key.*'])).toEqual(['app_key.*', 'member.joined']);
  });

  it.each([
    [[], 'events: must have at least 1 entry'],
    ['app_key.*', 'events: must be a list'],
    [['app_key.*', 7], 'events.1'],
    [['app_key.creatd'], 'events.0: must be a type such as app_key.created'],
    [['*'], 'events.0: must be a type'],
    [['app_key.cre*'], 'events.0: must be a type'],
    [['webhook.test'], 'events.0: must be a type'],
    [['__proto__.*'], 'events.0: must be a type'],
  ])('%j → refused', (sent, problem) => {
    expect(() => parseEventFilter(sent)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(problem) }),
    );
  });
});
