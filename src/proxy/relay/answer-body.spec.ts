import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OpenSecrets } from '../../providers/secret-patterns.js';
import { SecretMask as Mask, maskText } from './answer-body.js';

const SECRET = 'sk-abcabcabd-secret';

function openOnes(...secrets: string[]): OpenSecrets {
  const open = new OpenSecrets();
  for (const secret of secrets) open.opened(secret, 0);
  return open;
}

const maskOf = (...others: string[]) => new Mask(SECRET, openOnes(SECRET, ...others));

function pass(chunks: readonly string[]): string {
  const mask = maskOf();
  const out = chunks.map((chunk) => mask.push(Buffer.from(chunk))?.toString() ?? '');
  return out.join('') + (mask.end()?.toString() ?? '');
}

describe('masks of secrets in answers', () => {
  it('body without the secret → the same chunk is forwarded', () => {
    const chunk = Buffer.from('data: nothing of ours\n\n');
    expect(maskOf().push(chunk)).toBe(chunk);
  });

  it('secret in one chunk → asterisks of the same length', () => {
    expect(pass([`{"error":"bad key ${SECRET}!"}`])).toBe(`{"error":"bad key ${'*'.repeat(SECRET.length)}!"}`);
  });

  it('only the start of the secret at the end of the body → forwarded unchanged', () => {
    expect(pass(['text sk-abc', 'abc'])).toBe('text sk-abcabc');
  });

  it('any text split anywhere → the whole text with every occurrence masked', () => {
    const piece = fc.oneof(fc.constant(SECRET), fc.constant('sk-abcabc'), fc.constant('sk-'), fc.string());
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(40)), (pieces, cuts) => {
        const text = pieces.join('');
        const bytes = Buffer.from(text, 'latin1');
        const mask = maskOf();
        const out: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          out.push(mask.push(bytes.subarray(at, at + cut)) ?? Buffer.alloc(0));
          at = Math.min(bytes.length, at + cut);
        }
        out.push(mask.end() ?? Buffer.alloc(0));
        const expected = bytes.toString('latin1').replaceAll(SECRET, '*'.repeat(SECRET.length));
        expect(Buffer.concat(out).toString('latin1')).toBe(expected);
      }),
    );
  });

  it('header value → masked likewise', () => {
    expect(maskText(`Bearer ${SECRET}`, openOnes(SECRET).patterns)).toBe(`Bearer ${'*'.repeat(SECRET.length)}`);
    expect(maskText('short sk-1 stays', openOnes('sk-1').patterns)).toBe('short sk-1 stays');
  });
});

/** The expected text: every byte of an occurrence of any secret as an asterisk. */
function maskedByHand(text: string, secrets: readonly string[]): string {
  const out = [...text];
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
      out.fill('*', at, at + secret.length);
    }
  }
  return out.join('');
}

describe('many secrets at once', () => {
  it('any secrets, even overlapping ones, in any text split anywhere → every byte of each is masked', () => {
    const secrets = fc.uniqueArray(fc.stringMatching(/^[ab]{8,12}$/), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(secrets, fc.array(fc.nat(9)), fc.array(fc.nat(30)), (open, picks, cuts) => {
        const text = picks.map((pick) => open[pick] ?? ['a', 'b', 'ab', 'c'][pick - open.length] ?? 'aab').join('');
        const bytes = Buffer.from(text);
        const mask = new Mask(open[0] ?? '', openOnes(...open));
        const out: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          out.push(mask.push(bytes.subarray(at, at + cut)) ?? Buffer.alloc(0));
          at += cut;
        }
        out.push(mask.end() ?? Buffer.alloc(0));
        expect(Buffer.concat(out).toString()).toBe(maskedByHand(text, open));
        expect(maskText(text, openOnes(...open).patterns)).toBe(maskedByHand(text, open));
      }),
    );
  });

  it('a secret that is opened in the middle of an answer → masked from then on', () => {
    const open = openOnes(SECRET);
    const mask = new Mask(SECRET, open);
    expect(mask.push(Buffer.from('the-other-key!'))?.toString()).toBe('the-other-key!');
    open.opened('the-other-key', 1);
    expect(mask.push(Buffer.from('the-other-key!'))?.toString()).toBe('*************!');
  });

  it('a secret that JSON or a URL encodes differently → masked in these spellings too', () => {
    const secret = 'key/with+"quotes"=';
    const inJson = JSON.stringify(secret);
    const text = [secret, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)].join(' ');
    const masked = maskText(text, openOnes(secret).patterns);
    expect(masked).toMatch(/^\*+ "\*+" "\*+" \*+$/);
    expect(masked.length).toBe(text.length);
  });

  it('its own key, dropped after hours → still masked; other keys of the account are dropped', () => {
    const open = openOnes(SECRET, 'the-other-key');
    const mask = new Mask(SECRET, open);
    open.opened('a-third-key', 3 * 60 * 60 * 1_000);
    expect(mask.push(Buffer.from(`${SECRET} the-other-key a-third-key.`))?.toString()).toBe(
      `${'*'.repeat(SECRET.length)} the-other-key ***********.`,
    );
  });
});
