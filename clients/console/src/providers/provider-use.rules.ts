import type { UsedProvider } from '../api/queries';
import { countText, shareText } from '../design/amounts.rules';

type Users = Pick<UsedProvider, 'appCount' | 'apps'>;
type Calls = Pick<UsedProvider, 'requests' | 'errors' | 'lastSuccessDay'>;

/** The effect of a deletion on the applications that can reach a provider in any way. */
export function lossOf({ appCount, apps }: Users): string {
  if (appCount === 0) return 'No application can reach it.';
  const rest = appCount > apps.length ? ' and others' : '';
  const names = apps.map(({ name }) => name).join(', ');
  const who =
    appCount === 1 ? 'application can reach it and will lose access' : 'applications can reach it and will lose access';
  return `${countText(appCount)} ${who}: ${names}${rest}.`;
}

/** Calls of the last days in one line, as `1,204 calls, 2% failed`. */
export function callsText({ requests, errors }: Calls): string {
  if (requests === 0) return 'no calls';
  const calls = `${countText(requests)} ${requests === 1 ? 'call' : 'calls'}`;
  return errors === 0 ? `${calls}, none failed` : `${calls}, ${shareText(errors, requests)} failed`;
}

/** @param to the last UTC day of the calls, today. */
export function successText({ requests, lastSuccessDay }: Calls, to: string): string | undefined {
  if (requests === 0) return undefined;
  if (lastSuccessDay === null) return 'none succeeded';
  return `last success ${lastSuccessDay === to ? 'today' : lastSuccessDay} (UTC)`;
}
