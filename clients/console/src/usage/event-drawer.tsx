import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { countText, durationText, moneyText } from '../design/amounts.rules';
import { Dialog } from '../design/dialog';
import { Badge } from '../design/layout';
import { Time } from '../design/time';
import { modelOf, providerOf } from './refusal.rules';
import { RefusalWords, StatusBadges, type UsageEvent } from './status-badges';

type Attempt = Schemas['UsageAttemptResponse'];
type Fact = readonly [name: string, value: ReactNode];

const AUTHENTICATIONS: Readonly<Record<NonNullable<UsageEvent['auth_method']>, string>> = {
  api_key: 'Application key',
  attest: 'Apple App Attest',
  key_attestation: 'Android key attestation',
  play_integrity: 'Play Integrity',
  unproven: 'None: the proof of the device failed, and it was admitted with limits',
};

const COST_SOURCES: Readonly<Record<NonNullable<UsageEvent['cost_source']>, string>> = {
  computed: 'computed from tokens and prices',
  reported: 'as the provider reported',
  unresolved: 'the known part; the rest is unresolved',
};

/** Without a source there is no charge. */
function costText({ cost_usd: cost, cost_source: source }: UsageEvent): string {
  return source === null ? moneyText(cost) : `${moneyText(cost)} (${COST_SOURCES[source]})`;
}

/** Everything that is recorded about one call. */
export function EventDrawer({
  event,
  onClose,
}: {
  readonly event: UsageEvent | undefined;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={event === undefined ? '' : `Call ${event.id}`}
      isOpen={event !== undefined}
      onClose={onClose}
      isDrawer
    >
      {event !== undefined && <Facts event={event} />}
    </Dialog>
  );
}

function Facts({ event }: { readonly event: UsageEvent }) {
  const facts: readonly Fact[] = [
    ['Time', <Time key="at" at={event.created_at} isExact />],
    ['Status', <StatusBadges key="status" event={event} />],
    ['Why', event.refusal === null ? null : <RefusalWords key="why" event={event} />],
    ['Error code', event.refusal === null ? null : <code key="code">{event.refusal.code}</code>],
    ['Application', event.app_id],
    ['User', event.user_id],
    ['Application key', event.api_key_id],
    ['Route', <code key="route">{event.route}</code>],
    ['Endpoint', event.endpoint_slug],
    ['Provider', providerOf(event)],
    ['Upstream gateway', event.provider_gateway_type],
    ['Model', modelOf(event)],
    ['Served by', [event.served_provider, event.served_model].filter(Boolean).join(', ') || null],
    ['Input tokens', `${countText(event.input_tokens)}, ${countText(event.cached_input_tokens)} of them cached`],
    ['Cache write tokens', event.cache_write_tokens === 0 ? null : countText(event.cache_write_tokens)],
    ['Output tokens', countText(event.output_tokens)],
    ['Cost', costText(event)],
    ['Estimated part', event.estimated_cost_usd === 0 ? null : moneyText(event.estimated_cost_usd)],
    ['Reported by the provider', event.reported_cost_usd === null ? null : moneyText(event.reported_cost_usd)],
    ['First byte after', event.latency_ms === null ? null : durationText(event.latency_ms)],
    ['Last byte after', event.duration_ms === null ? null : durationText(event.duration_ms)],
    ['Client disconnected', event.client_aborted === null ? null : 'yes'],
    ['App version', event.app_version],
    ['Authenticated by', event.auth_method === null ? null : AUTHENTICATIONS[event.auth_method]],
  ];
  const attempts = (event.attempts ?? []) as readonly Attempt[];
  return (
    <>
      <dl className="grid grid-cols-[10rem_1fr] gap-x-4 gap-y-1.5 text-sm">
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="break-words">{value}</dd>
            </div>
          ))}
      </dl>
      {attempts.length > 0 && (
        <section className="mt-5">
          <h3 className="mb-2 font-semibold">Attempts</h3>
          <ol className="flex flex-col gap-2">
            {attempts.map((attempt, index) => (
              <li
                key={String(index)}
                className="flex flex-wrap items-center gap-2 rounded-md border border-line p-2 text-sm"
              >
                <span className="text-muted">{index + 1}.</span> {attempt.provider_slug} · {attempt.model}
                <Badge tone={attempt.status !== null && attempt.status < 400 ? 'good' : 'bad'}>
                  {attempt.status ?? attempt.error ?? 'no answer'}
                </Badge>
                <span className="ml-auto text-muted">{durationText(attempt.latency_ms)}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}
