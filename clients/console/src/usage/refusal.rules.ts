import type { Schemas } from '../api/client';

type Refused = Pick<Schemas['UsageEventResponse'], 'model' | 'refusal'>;

/** What a row has in place of a model or provider that was not chosen. */
const NOT_KNOWN = '(none)';
/** A wait that was counted when the call was refused: it is over, or shorter, when somebody reads it. */
const WAIT = /[;.] try again in \d+ s\.$/i;
const NAMED_MODEL = /\bmodel ("(?:[^"\\]|\\.)*")/;

/** What the caller was told, without the wait that the time in `until` says. */
export function refusalText({ message, until }: NonNullable<Refused['refusal']>): string {
  return until === null ? message : message.replace(WAIT, '.');
}

/** The model of a call, or the one that its refusal names; null where none is known. */
export function modelOf({ model, refusal }: Refused): string | null {
  if (model !== NOT_KNOWN) return model;
  const named = NAMED_MODEL.exec(refusal?.message ?? '')?.[1];
  return named === undefined ? null : String(JSON.parse(named));
}

/** The provider of a call; null: refused before one was chosen. */
export function providerOf({
  provider,
  provider_slug: slug,
}: Pick<Schemas['UsageEventResponse'], 'provider' | 'provider_slug'>) {
  if (provider === NOT_KNOWN) return null;
  return slug === null || slug === provider ? provider : `${slug} (${provider})`;
}
