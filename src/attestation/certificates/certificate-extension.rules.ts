import { elementsOf } from './der.rules.js';

/** The object identifier 2.5.29.19. */
const BASIC_CONSTRAINTS = '551d13';
const BOOLEAN = 0x01;
const OBJECT_ID = 0x06;
const OCTET_STRING = 0x04;
const EXTENSIONS = 0xa3;

/**
 * The value of one certificate extension, which the platform's reader does not expose.
 *
 * @param der of a readable certificate.
 * @param name the content of the object identifier, in hex.
 * @returns `undefined` when the certificate has no extension of this name, or several.
 * Source: RFC 5280 4.1.
 */
export function findExtension(der: Buffer, name: string): Buffer | undefined {
  const [certificate] = elementsOf(der) ?? [];
  const [signed] = (certificate && elementsOf(certificate.content)) ?? [];
  const field = signed && elementsOf(signed.content)?.find(({ tag }) => tag === EXTENSIONS);
  const [list] = (field && elementsOf(field.content)) ?? [];
  const found = ((list && elementsOf(list.content)) ?? []).flatMap(({ content }) => {
    const members = elementsOf(content) ?? [];
    const [id, value] = [members.at(0), members.at(-1)];
    const isIt = id?.tag === OBJECT_ID && id.content.toString('hex') === name;
    return isIt && value?.tag === OCTET_STRING ? [value.content] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/**
 * Whether the basic constraints of a certificate claim a CA, independent of its other extensions.
 *
 * @param der of a readable certificate.
 * Source: RFC 5280 4.2.1.9.
 */
export function claimsAuthority(der: Buffer): boolean {
  const constraints = findExtension(der, BASIC_CONSTRAINTS);
  const [list] = (constraints && elementsOf(constraints)) ?? [];
  const [may] = (list && elementsOf(list.content)) ?? [];
  return may?.tag === BOOLEAN && may.content[0] !== 0;
}
