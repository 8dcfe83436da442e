import type { Schemas } from '../api/client';
import presets from '../api/identity-presets.json';

type Issuer = Schemas['AppIssuer'];
type RequiredClaim = Issuer['required_claims'][number];

/** An identity provider whose addresses follow from a few values of its customer. */
export type IssuerPreset = (typeof presets)[number];

/** Claims that usually name a user. */
export const USER_CLAIMS = [
  { value: 'sub', note: 'The subject of every identity provider' },
  { value: 'user_id', note: 'Firebase' },
  { value: 'email', note: 'The e-mail address, which people can change' },
] as const;

/** Claims that usually say what a user may do. */
export const USUAL_CLAIMS = ['scope', 'roles', 'permissions', 'entitlements', 'app_metadata.roles'].map((value) => ({
  value,
}));

export const ISSUER_PRESETS: readonly IssuerPreset[] = presets;

/** The labels of the values that a preset still needs. */
export function missingOf(preset: IssuerPreset, values: Readonly<Record<string, string>>): readonly string[] {
  return preset.fields.filter(({ name }) => (values[name] ?? '').trim() === '').map(({ label }) => label);
}

/** Fills the values into the templates of a preset. None may be missing. */
export function issuerOf(preset: IssuerPreset, values: Readonly<Record<string, string>>): Partial<Issuer> {
  const filled = (template: string) =>
    template.replace(/\{(\w+)\}/g, (_all, name: string) => (values[name] ?? '').trim());
  return {
    jwks_url: filled(preset.jwks_url),
    issuer: filled(preset.issuer),
    audience: filled(preset.audience),
    user_id_claim: 'sub',
    provider: preset.id as NonNullable<Issuer['provider']>,
  };
}

/** One text of one text or several. */
export function textOfList(value: string | readonly string[], separator = ', '): string {
  return typeof value === 'string' ? value : value.join(separator);
}

/** Several texts, or the one, of a text with commas. */
export function listOfText(text: string): string | string[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.length > 1 ? parts : text;
}

/** The claims of a JSON Web Token, unverified; undefined if it is not one. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload = ''] = token.trim().split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
      character.charCodeAt(0),
    );
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}

/** The paths of claims, those inside others included, as they are typed. A name with a dot has no such path. */
export function claimPathsOf(claims: object, prefix = ''): readonly string[] {
  return Object.entries(claims).flatMap(([name, value]) => {
    if (name === '' || name.includes('.')) return [];
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isNested ? claimPathsOf(value, `${prefix}${name}.`) : [`${prefix}${name}`];
  });
}

/** Whether claims meet the requirements, by the rules of the gateway. */
export function fulfils(claims: Readonly<Record<string, unknown>>, claim: RequiredClaim): boolean {
  const found = claimAt(claims, typeof claim.path === 'string' ? claim.path.split('.') : claim.path);
  if ('equals' in claim) return found === claim.equals;
  const words = typeof found === 'string' ? [found, ...found.split(/\s+/)] : found;
  return Array.isArray(words) && [claim.contains].flat().some((text) => words.includes(text));
}

/** Every name is an own member of an object; what is missing is undefined. */
function claimAt(claims: object, path: readonly string[]): unknown {
  let found: unknown = claims;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, name)) return;
    found = Reflect.get(found, name);
  }
  return found;
}
