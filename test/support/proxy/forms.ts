/** One part of a form as it is written: header block and content. */
export interface FormPiece {
  readonly head: string;
  readonly content: string | Buffer;
}

/** A part as read by an independent parser: fields as text, files as bytes. */
export interface ReadPart {
  readonly name: string;
  readonly value: string | Buffer;
  readonly type?: string;
  readonly fileName?: string;
}

const BOUNDARY = 'form-7Q';

/** `content-type` of every form that {@link formOf} writes, as a flat list. */
export const FORM_HEADERS = ['content-type', `multipart/form-data; boundary=${BOUNDARY}`];

export const field = (name: string, content: string): FormPiece => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  content,
});

export const file = (name: string, fileName: string, type: string, content: string | Buffer): FormPiece => ({
  head: `Content-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: ${type}`,
  content,
});

/** A form byte for byte as these pieces say. */
export function formOf(...pieces: readonly FormPiece[]): Buffer {
  const parts = pieces.flatMap(({ head, content }) => [`--${BOUNDARY}\r\n${head}\r\n\r\n`, content, '\r\n']);
  return Buffer.concat(
    [...parts, `--${BOUNDARY}--\r\n`].map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part))),
  );
}

/** The parts of a form that arrived, in their order. */
export async function readParts(
  request: { readonly body: Buffer; header(name: string): string | undefined } | undefined,
): Promise<ReadPart[]> {
  const headers = { 'content-type': request?.header('content-type') ?? '' };
  const form = await new Response(new Uint8Array(request?.body ?? []), { headers }).formData();
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string'
        ? { name, value }
        : { name, value: Buffer.from(await value.arrayBuffer()), type: value.type, fileName: value.name },
    ),
  );
}
