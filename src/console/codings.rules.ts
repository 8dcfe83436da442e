/** A coding of a stored file. */
export interface Coding {
  readonly name: 'br' | 'gzip';
  /** Of the file beside the stored one. */
  readonly extension: string;
}

/** The best one first. */
const CODINGS: readonly Coding[] = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
];

/**
 * The best coding that the client accepts; undefined: as it is.
 *
 * @param acceptEncoding the header of the request.
 * @param isStored whether there is a file with the extension.
 */
export function bestCoding(acceptEncoding: string, isStored: (extension: string) => boolean): Coding | undefined {
  return CODINGS.find(({ name, extension }) => accepts(acceptEncoding, name) && isStored(extension));
}

/** Source: RFC 9110 12.5.3; a coding with the weight 0 is refused. */
function accepts(acceptEncoding: string, coding: string): boolean {
  return acceptEncoding.split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
