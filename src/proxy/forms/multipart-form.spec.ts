import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { FORM_LIMITS } from './form-shape.rules.js';
import { type FormPart, findFormField, type RebuiltForm, readForm, rebuildForm } from './multipart-form.js';

const TYPE = 'multipart/form-data; boundary=XyZ';
const field = (name: string, value: string) =>
  `--XyZ\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, bytes = 'ID3\0\xff', fileName = 'a.mp3') =>
  `--XyZ\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: audio/webm;codecs=opus\r\n\r\n${bytes}\r\n`;
/** A part without `asSent`. */
const told = ({ name, fileName, contentType, content }: FormPart) => ({ name, fileName, contentType, content });
const bytesOf = ({ pieces }: RebuiltForm) => Buffer.concat(pieces);
const form = (...parts: string[]) => Buffer.from(`${parts.join('')}--XyZ--\r\n`, 'latin1');

function headed(head: string): Buffer {
  return form(`--XyZ\r\n${head}\r\n\r\nv\r\n`);
}

async function refusal(body: Buffer, type = TYPE): Promise<string> {
  try {
    await readForm(body, type);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message;
    throw error;
  }
  return 'accepted';
}

describe('multipart form: reading', () => {
  it('fields and files → names, types and bytes as sent, in order', async () => {
    const parts = await readForm(
      form(field('model', 'w'), file('file'), field('tag[]', ''), field('tag[]', 'b')),
      TYPE,
    );
    expect(parts.map(told)).toEqual([
      { name: 'model', fileName: undefined, contentType: undefined, content: Buffer.from('w') },
      {
        name: 'file',
        fileName: 'a.mp3',
        contentType: 'audio/webm;codecs=opus',
        content: Buffer.from('ID3\0\xff', 'latin1'),
      },
      { name: 'tag[]', fileName: undefined, contentType: undefined, content: Buffer.alloc(0) },
      { name: 'tag[]', fileName: undefined, contentType: undefined, content: Buffer.from('b') },
    ]);
    expect([findFormField(parts, 'model'), findFormField(parts, 'file'), findFormField(parts, 'x')]).toEqual([
      'w',
      undefined,
      undefined,
    ]);
  });

  it.each([
    ['unquoted names', 'Content-Disposition: form-data; name=model'],
    ['an unquoted and an extended file name', "Content-Disposition: form-data; name=f; filename=a; filename*=utf-8''a"],
    [
      'more headers',
      'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name="n"\r\nContent-Length: 1',
    ],
    ['a binary encoding', 'Content-Disposition: form-data; name="n"\r\nContent-Transfer-Encoding: binary'],
    ['a name beyond ASCII', 'Content-Disposition: form-data; name="f"; filename="\xc3\xa9.mp3"'],
  ])('%s → accepted', async (_, head) => {
    expect(await refusal(headed(head))).toBe('accepted');
  });

  it.each([
    'multipart/form-data; boundary="XyZ"',
    'Multipart/Form-Data;boundary=XyZ; charset=UTF-8',
    'multipart/form-data; charset=utf-8; boundary=XyZ',
  ])('content type %s → accepted', async (type) => {
    expect(await refusal(form(field('a', 'b')), type)).toBe('accepted');
  });

  it('every part → a view of the body, not a copy', async () => {
    const body = form(field('model', 'w'), file('file'), field('tag', ''));
    const parts = await readForm(body, TYPE);
    expect(parts.map(({ content, asSent }) => [content.buffer === body.buffer, asSent.buffer === body.buffer])).toEqual(
      Array(3).fill([true, true]),
    );
    expect(parts[1]?.asSent.toString('latin1')).toBe(file('file').slice('--XyZ\r\n'.length, -'\r\n'.length));
  });

  it('20 MiB file → read without blocking the event loop throughout', async () => {
    const content = Buffer.alloc(FORM_LIMITS.fileBytes - 1024, '\r\n--Xy');
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const parts = await readForm(
      Buffer.concat([form(file('file')).subarray(0, -14), content, Buffer.from('\r\n--XyZ--')]),
      TYPE,
    );
    clearInterval(timer);
    expect(parts[0]?.content.subarray(-content.length).equals(content)).toBe(true);
    expect(turns).toBeGreaterThan(1);
  });
});

describe('multipart form: refusals', () => {
  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=a; boundary=b',
    'multipart/form-data; boundary="a\\"b"',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
    'multipart/mixed; boundary=XyZ',
    'application/json',
  ])('content type %s → refused', async (type) => {
    expect(await refusal(form(field('a', 'b')), type)).toContain('content-type:');
  });

  const good = form(field('a', 'b'), file('file')).toString('latin1');
  it.each([
    ['an empty body', '', 'no boundary'],
    ['another boundary', good.replaceAll('XyZ', 'abc'), 'no boundary'],
    ['no part', '--XyZ--\r\n', 'no part'],
    ['text in front', `hello\r\n${good}`, 'no boundary'],
    ['text behind', `${good}hello`, 'a broken boundary'],
    ['bare line feeds', good.replaceAll('\r\n', '\n'), 'a broken boundary'],
    ['no end', good.slice(0, -12), 'the end of the body'],
    ['an end behind a boundary', good.slice(0, -4), 'the end of the body'],
    ['an end in the headers', good.slice(0, 30), 'part headers without an end'],
    ['a longer boundary inside', good.replace('ID3', 'I\r\n--XyZ3'), 'a broken boundary'],
    ['no content', '--XyZ\r\nContent-Disposition: form-data; name="a"\r\n--XyZ--\r\n', 'part headers without an end'],
  ])('%s → refused', async (_, text, problem) => {
    expect(await refusal(Buffer.from(text, 'latin1'))).toContain(`not a readable form: ${problem}`);
  });

  it.each([
    ['no disposition', 'Content-Type: text/plain'],
    ['two names', 'Content-Disposition: form-data; name="a"; name="model"'],
    ['an extended name', 'Content-Disposition: form-data; name="a"; name*=utf-8\'\'model'],
    ['an escaped name', 'Content-Disposition: form-data; name="mod\\el"'],
    ['an encoded name', 'Content-Disposition: form-data; name="mod%65l"'],
    ['two dispositions', 'Content-Disposition: form-data; name="a"\r\nContent-disposition: form-data; name="model"'],
    ['a folded header', 'Content-Disposition: form-data;\r\n name="a"'],
    ['a space before the colon', 'Content-Disposition : form-data; name="a"'],
    ['another kind', 'Content-Disposition: attachment; name="a"'],
    ['base64', 'Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64'],
    ['UTF-16', 'Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=utf-16'],
    ['bytes that are not UTF-8', 'Content-Disposition: form-data; name="\xff"'],
    ['a bare line feed', 'Content-Disposition: form-data; name="a"\nX: y'],
    ['many headers', `Content-Disposition: form-data; name="a"${'\r\nX-0: y'.repeat(9)}`],
    ['long headers', `Content-Disposition: form-data; name="${'a'.repeat(9000)}"`],
  ])('part with %s → refused', async (_, head) => {
    expect(await refusal(headed(head))).toContain('not a readable form');
  });

  it.each(['model', 'response_format', 'stream', 'n'])(
    'validated field %s: twice, as a file, or in another case → refused',
    async (name) => {
      expect(await refusal(form(field(name, '1'), field(name, '1')))).toBe(`${name}: is given twice`);
      expect(await refusal(form(file(name)))).toContain(`${name}: must be a plain field`);
      expect(await refusal(form(field(name.toUpperCase(), '1')))).toContain('letter case');
    },
  );

  it.each([
    ['parts', form(...Array.from({ length: 65 }, () => field('a', 'b')))],
    ['files', form(...Array.from({ length: 17 }, () => file('a')))],
    ['field bytes', form(field('a', 'b'.repeat(FORM_LIMITS.fieldBytes + 1)))],
  ])('too many %s → refused', async (_, body) => {
    expect(await refusal(body)).toContain('more than');
  });

  it('a field that is not UTF-8 → refused when it is read', async () => {
    const parts = await readForm(form(field('model', '\xff')), TYPE);
    expect(() => findFormField(parts, 'model')).toThrow('model: not valid UTF-8');
  });

  it('any damage to a form → a result or a refusal, never a hang or another error', async () => {
    const damage = fc.record({
      at: fc.nat(),
      drop: fc.nat({ max: 40 }),
      add: fc.constantFrom('', '\r\n', '--XyZ', '\r\n--XyZ', '"', ';', '\0'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
        let text = good;
        for (const { at, drop, add } of damages) {
          const place = at % text.length;
          text = text.slice(0, place) + add + text.slice(place + drop);
        }
        expect(typeof (await refusal(Buffer.from(text, 'latin1')))).toBe('string');
      }),
      { numRuns: fuzzRuns(2000) },
    );
  });
});

const FRESH = 'multipart/form-data; boundary=fresh';
const FIELD = { fileName: undefined, contentType: undefined };

describe('multipart form: rebuilding', () => {
  it('changed fields → keep their place; added ones → come first; the rest → as sent', async () => {
    const parts = await readForm(
      form(field('tag', '1'), field('model', 'a'), file('file', '\r\n\0', 'x y.mp3'), field('tag', '2')),
      TYPE,
    );
    const changes = new Map([
      ['response_format', 'verbose_json'],
      ['model', 'wire/é'],
      ['stream', 'true'],
    ]);
    const rebuilt = await readForm(bytesOf(rebuildForm(parts, changes, 'fresh')), FRESH);
    expect(rebuilt.map(told)).toEqual([
      { ...FIELD, name: 'response_format', content: Buffer.from('verbose_json') },
      { ...FIELD, name: 'stream', content: Buffer.from('true') },
      parts.map(told)[0],
      { ...FIELD, name: 'model', content: Buffer.from('wire/é') },
      ...parts.slice(2).map(told),
    ]);
  });

  it('untouched parts → their header blocks byte for byte, whatever they contain', async () => {
    const head = "content-DISPOSITION:form-data; name=file; filename=a; filename*=utf-8''%C3%A9.mp3\r\nX-More: 1";
    const body = form(`--XyZ\r\n${head}\r\n\r\n\xff\0\r\n`, field('a', ''));
    const rebuilt = rebuildForm(await readForm(body, TYPE), new Map(), 'fresh');
    expect(bytesOf(rebuilt).toString('latin1')).toBe(body.toString('latin1').replaceAll('XyZ', 'fresh'));
  });

  it('a changed field of another type or charset → becomes plain text', async () => {
    const typed = '--XyZ\r\nContent-Disposition: form-data; name="model"\r\nContent-Type: text/plain; charset=us-ascii';
    const parts = await readForm(form(`${typed}\r\n\r\na\r\n`), TYPE);
    const [model] = await readForm(bytesOf(rebuildForm(parts, new Map([['model', 'é']]), 'fresh')), FRESH);
    expect(model && told(model)).toEqual({ ...FIELD, name: 'model', content: Buffer.from('é') });
  });

  it('a file with the name of a field to set → kept, and the field is added', async () => {
    const parts = await readForm(form(file('prompt')), TYPE);
    const rebuilt = await readForm(bytesOf(rebuildForm(parts, new Map([['prompt', 'p']]), 'fresh')), FRESH);
    expect(rebuilt.map(told)).toEqual([{ ...FIELD, name: 'prompt', content: Buffer.from('p') }, ...parts.map(told)]);
  });

  it('a large file → sent from the received buffer, chunk by chunk', async () => {
    const body = form(field('model', 'a'), file('file', 'x'.repeat(1_000_000)));
    const { pieces, bytes } = rebuildForm(await readForm(body, TYPE), new Map([['model', 'b']]), 'fresh');
    const own = pieces.filter((piece) => piece.buffer !== body.buffer);
    expect(own.reduce((sum, piece) => sum + piece.length, 0)).toBeLessThan(200);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBe(128 * 1024);
    expect(bytes).toBe(Buffer.concat(pieces).length);
    expect(Buffer.concat(pieces).includes('x'.repeat(1_000_000))).toBe(true);
  });

  it('names with quotes or line ends → cannot break out of their header', () => {
    const text = bytesOf(rebuildForm([], new Map([['a"\r\nX: y', '1']]), 'fresh')).toString();
    expect(text).toContain('name="a%22%0D%0AX: y"\r\n\r\n1\r\n');
  });

  it('any contents → survive a round trip', async () => {
    const part = fc.record({
      name: fc.constantFrom('a', 'b[]', 'é'),
      fileName: fc.option(fc.constantFrom('f.mp3', 'é q.wav', ''), { nil: undefined }),
      contentType: fc.constantFrom(undefined, 'audio/mpeg', 'text/plain; charset=utf-8'),
      content: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (sent) => {
        const parts = await readForm(written(sent), TYPE);
        expect(parts.map(told)).toEqual(sent);
        const read = await readForm(bytesOf(rebuildForm(parts, new Map(), 'q9')), 'multipart/form-data; boundary=q9');
        expect(read.map(told)).toEqual(sent);
      }),
      { numRuns: fuzzRuns(500) },
    );
  });
});

/** Serialises a form as a client would. */
function written(parts: readonly Omit<FormPart, 'asSent'>[]): Buffer {
  const pieces = parts.flatMap(({ name, fileName, contentType, content }) => {
    const ending = `${fileName === undefined ? '' : `; filename="${fileName}"`}${contentType ? `\r\nContent-Type: ${contentType}` : ''}`;
    return [`--XyZ\r\nContent-Disposition: form-data; name="${name}"${ending}\r\n\r\n`, content, '\r\n'];
  });
  return Buffer.concat([...pieces, '--XyZ--\r\n'].map((piece) => Buffer.from(piece)));
}
