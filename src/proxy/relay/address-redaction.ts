import { isIP } from 'node:net';
import { isPublicAddress } from '../../platform/outbound/address.rules.js';
import type { TrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { bareHost } from '../../platform/outbound/url-host.rules.js';

/** Top-level labels that only private networks resolve. */
const PRIVATE_SUFFIXES = 'arpa|corp|home|internal|intranet|lan|local|localdomain|localhost|private';
const PRIVATE_NAME = new RegExp(`^(?:.*\\.)?(?:${PRIVATE_SUFFIXES})$`, 'i');
/**
 * A value that contains an address contains at least one of these patterns. Each begins with a character that is rare
 * in a head: patterns that begin with a digit or a letter take ten times as long.
 */
const ADDRESS_SIGNS = [
  '://|::',
  ':[0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}:',
  `\\.(?:\\d{1,3}\\.\\d{1,3}\\.\\d|${PRIVATE_SUFFIXES})`,
  'localhost',
].join('|');

/** Headers whose value is a URL reference, in addition to those that end in `-url` and `-uri`. */
const REFERENCES: ReadonlySet<string> = new Set(['location', 'content-location']);
const ABSOLUTE = /^https?:\/\/[^/?#@%]+(?:[/?#]|$)/i;
const PRINTABLE = /^[\x21-\x5b\x5d-\x7e]+$/;

const URLS = /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>,;]*/gi;
const LINK_TARGETS = /<([^>]*)>/g;
/** Host names and IPv4 addresses in text; IPv6 addresses in text. */
const NAMES = /[a-z0-9_-]+(?:\.[a-z0-9_-]+)*/gi;
const IPV6 = /[0-9a-f.:]{3,}/gi;
const MAX_IP_CHARACTERS = 45;
/** A longer value with an address pattern is dropped unread. */
const MAX_CHECKED_CHARACTERS = 4 * 1024;

/**
 * Decides which headers of a provider's answer may reach the client: those without an address of the private network or
 * of the operator's account. Checks the text of names; resolves nothing.
 * Source: docs/reference/application-api.md#answers.
 */
export class AddressRedaction {
  readonly #own: ReadonlySet<string>;
  readonly #suspect: RegExp;

  /** @param baseUrls of the provider and of the route to it. */
  constructor(
    baseUrls: readonly string[],
    private readonly trusted: TrustedHosts,
  ) {
    this.#own = new Set(baseUrls.map((baseUrl) => hostOf(new URL(baseUrl))));
    const own = [...this.#own].map((host) => host.replaceAll(/[^a-z0-9]/g, '\\$&'));
    this.#suspect = new RegExp([...own, ADDRESS_SIGNS].join('|'), 'i');
  }

  /** Whether a text may contain an address. */
  suspects(text: string): boolean {
    return this.#suspect.test(text);
  }

  /** @param name in lower case. @param isSuspect what `suspects` says of the value, or of a text that contains it. */
  allows(name: string, value: string, isSuspect: boolean): boolean {
    if (isReference(name)) return this.#isPublicReference(value);
    const isLink = name === 'link';
    if (!isLink && !(isSuspect && this.suspects(value))) return true;
    if (value.length > MAX_CHECKED_CHARACTERS || (isLink && !this.#areLinksPublic(value))) return false;
    return !this.#namesPrivateAddress(value);
  }

  /** A reference must be absolute: a relative one resolves at the provider. */
  #isPublicReference(value: string): boolean {
    const text = value.trim();
    if (!ABSOLUTE.test(text) || !PRINTABLE.test(text)) return false;
    const url = URL.parse(text);
    return url !== null && this.#isPublic(url);
  }

  #areLinksPublic(value: string): boolean {
    return [...value.matchAll(LINK_TARGETS)].every(([, target = '']) => this.#isPublicReference(target));
  }

  #namesPrivateAddress(value: string): boolean {
    for (const [text] of value.matchAll(URLS)) {
      const url = URL.parse(text);
      // A URL without a host has no network address.
      if (url !== null && url.hostname !== '' && !this.#isPublic(url)) return true;
    }
    const names = [...value.matchAll(NAMES)].map(([name]) => name.toLowerCase());
    if (names.some((name) => this.#own.has(name) || isPrivateName(name) || isPrivateIp(name))) return true;
    return [...value.matchAll(IPV6)].some(([text]) => this.#own.has(text.toLowerCase()) || isPrivateIp(text));
  }

  #isPublic(url: URL): boolean {
    const host = hostOf(url);
    if (this.#own.has(host) || this.trusted.allowsHost(host) || this.trusted.allowsHost(url.host)) return false;
    if (isIP(host) !== 0) return isPublicAddress(host);
    return host.includes('.') && !PRIVATE_NAME.test(host);
  }
}

function isReference(name: string): boolean {
  return REFERENCES.has(name) || name.endsWith('-url') || name.endsWith('-uri');
}

/** A single label could be any word. */
function isPrivateName(name: string): boolean {
  return name === 'localhost' || (name.includes('.') && PRIVATE_NAME.test(name));
}

function isPrivateIp(text: string): boolean {
  return text.length <= MAX_IP_CHARACTERS && isIP(text) !== 0 && !isPublicAddress(text);
}

/** The normalised host: without brackets and without the trailing dot. */
function hostOf({ hostname }: URL): string {
  return bareHost(hostname.toLowerCase()).replace(/\.+$/, '');
}
