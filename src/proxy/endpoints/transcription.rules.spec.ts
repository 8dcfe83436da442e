import { describe, expect, it } from '@jest/globals';
import { type FormPart, readForm, rebuildForm } from '../forms/multipart-form.js';
import {
  composeTranscription,
  inOrderFor,
  requireFile,
  requireTranscriptionForm,
  type TranscriptionTarget,
} from './transcription.rules.js';

const TYPE = 'multipart/form-data; boundary=b';
const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, fileName = 'a.wav') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\n\r\nRIFF\0\r\n`;

function formOf(...parts: string[]): Promise<FormPart[]> {
  return readForm(Buffer.from(`${parts.join('')}--b--\r\n`), TYPE);
}

async function composed(type: TranscriptionTarget['type'], ...parts: string[]): Promise<[string, string][]> {
  return [...composeTranscription(await formOf(...parts), { type, model: 'wire-model' })];
}

describe('transcription of a named endpoint: accepted requests', () => {
  it.each(['multipart/form-data; boundary=b', 'Multipart/Form-Data;boundary=b', 'multipart/form-data'])(
    'content type %p → a form',
    (contentType) => {
      expect(() => requireTranscriptionForm(contentType)).not.toThrow();
    },
  );

  it.each(['', 'application/json', 'multipart/mixed; boundary=b', 'audio/wav', 'x multipart/form-data'])(
    'content type %p → 400',
    (contentType) => {
      expect(() => requireTranscriptionForm(contentType)).toThrow('body: send a transcription as multipart/form-data');
    },
  );

  it.each([
    ['first', [file('file'), field('language', 'de')]],
    ['last, beside other files', [file('extra'), field('language', 'de'), file('file')]],
    ['without its own name', [file('file', '')]],
  ])('a file %s → accepted', async (_, parts) => {
    const form = await formOf(...parts);
    expect(() => requireFile(form)).not.toThrow();
  });

  it.each([
    ['no file', [field('language', 'de')], 'file: missing'],
    ['a file of another name', [file('audio'), file('File')], 'file: missing'],
    ['text where the file should be', [field('file', 'RIFF')], 'file: a plain field'],
  ])('%s → 400 that says what to send', async (_, parts, problem) => {
    const form = await formOf(...parts);
    expect(() => requireFile(form)).toThrow(`${problem}; send the audio as a file of this name`);
  });
});

describe('transcription of a named endpoint: the order of its parts', () => {
  const sent = [file('file'), field('language', 'de'), file('extra'), field('format', 'true')];
  const names = (parts: readonly FormPart[]) => parts.map(({ name }) => name);

  it('second family, which reads a form as a stream → files after all fields, each in order', async () => {
    expect(names(inOrderFor('xai', await formOf(...sent)))).toEqual(['language', 'format', 'file', 'extra']);
  });

  it('first family → as sent', async () => {
    const parts = await formOf(...sent);
    expect(inOrderFor('openai', parts)).toBe(parts);
  });
});

describe('transcription of a named endpoint: fields that are set', () => {
  it.each(['openai', 'xai'] as const)('%s: a model of the client, or none → the model of the target', async (type) => {
    expect(await composed(type, file('file'))).toEqual([['model', 'wire-model']]);
    expect(await composed(type, field('model', 'whisper-1'), file('file'))).toEqual([['model', 'wire-model']]);
    expect(await composed(type, field('model', ''), file('file'))).toEqual([['model', 'wire-model']]);
  });

  it.each(['json', 'verbose_json', 'diarized_json'])('first family, format %s → as sent', async (format) => {
    expect(await composed('openai', field('response_format', format), file('file'))).toEqual([['model', 'wire-model']]);
  });

  it.each(['text', 'srt', 'vtt', '', 'JSON'])('first family, format %p → 400: it cannot be priced', async (format) => {
    await expect(composed('openai', field('response_format', format), file('file'))).rejects.toThrow(
      'response_format: cannot be priced; send json, verbose_json, diarized_json',
    );
  });

  it('second family, whose answer always contains the duration → any format', async () => {
    expect(await composed('xai', field('response_format', 'srt'), file('file'))).toEqual([['model', 'wire-model']]);
  });

  it('a type whose plain answer contains no duration → a format with one is requested', async () => {
    expect(await composed('groq', file('file'))).toEqual([
      ['model', 'wire-model'],
      ['response_format', 'verbose_json'],
    ]);
  });

  it('one form, targets of both families → each its own model, the same file, the client’s other fields', async () => {
    const parts = await formOf(field('language', 'de'), file('file'), field('model', 'mine'), field('language', 'en'));
    for (const target of [
      { type: 'openai', model: 'whisper-1' },
      { type: 'xai', model: 'grok-transcribe' },
    ] as const) {
      const { pieces } = rebuildForm(parts, composeTranscription(parts, target), 'fresh');
      const sent = await readForm(Buffer.concat(pieces), 'multipart/form-data; boundary=fresh');
      expect(sent.map(({ name, content }) => [name, content.toString()])).toEqual([
        ['language', 'de'],
        ['file', 'RIFF\0'],
        ['model', target.model],
        ['language', 'en'],
      ]);
    }
  });
});
