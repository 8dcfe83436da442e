import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { DEAREST_APPS, queries } from '../api/queries';
import { countedText, moneyText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { SelectField, TextField } from '../design/field';
import { Alert, Card, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { ModelField } from '../models/model-field';
import { PROVIDER_OPTIONS, type ProviderType } from '../providers/provider-types';
import { useReadOnlyReason } from '../shell/session';

type Reprice = Schemas['RepriceUsageResponse'];
type Settle = Schemas['SettleEstimatesResponse'];

/** Applications to choose from; the others have this on their own page. */
const MOST_APPS = 200;

const SETTLE_BY = [
  { value: 'estimate', label: 'as estimated' },
  { value: 'zero', label: 'as nothing' },
] as const;

/** Corrections of costs: changed prices, and estimates to settle. Both have a preview. */
export function Corrections({ app }: { readonly app: string | undefined }) {
  const [month, setMonth] = useState(() => new Date().toISOString().slice(0, 7));
  const [chosen, setChosen] = useState('');
  const apps = useQuery({ ...queries.apps({ ...DEAREST_APPS, limit: MOST_APPS }), enabled: app === undefined });
  const options = (apps.data?.apps ?? []).map(({ id, name }) => ({ value: id, label: `${name} (${id})` }));
  const corrected = app ?? (chosen === '' ? options[0]?.value : chosen);
  return (
    <Card title="Correct costs" lead="Nothing changes until you have seen the preview.">
      <div className="flex flex-col gap-6">
        <div className="flex flex-wrap items-end gap-3">
          {app === undefined && (
            <SelectField label="Application" value={corrected ?? ''} options={options} onChange={setChosen} />
          )}
          <TextField label="Month (UTC)" type="month" value={month} onChange={setMonth} className="w-40" />
        </div>
        {corrected === undefined ? (
          <Loaded query={apps} rows={4}>
            {() => <p className="text-muted">There is no application yet.</p>}
          </Loaded>
        ) : (
          <>
            <RepriceForm key={`reprice ${corrected} ${month}`} app={corrected} month={month} />
            <SettleForm key={`settle ${corrected} ${month}`} app={corrected} month={month} />
          </>
        )}
      </div>
    </Card>
  );
}

function RepriceForm({ app, month }: { readonly app: string; readonly month: string }) {
  const reason = useReadOnlyReason();
  const { data: providers = [] } = useQuery(queries.providers());
  const own = providers.map(({ type }) => type);
  // Also those of deleted providers: their calls are still recorded.
  const types = [...new Set([...own, ...PROVIDER_OPTIONS.map(({ value }) => value)])];
  const [chosen, setProvider] = useState<ProviderType>();
  const provider = chosen ?? types[0] ?? 'openai';
  const [model, setModel] = useState('');
  const { preview, error, reset, run } = useCorrection<Reprice>(app, (apply) => {
    const body = { provider, model, month, apply };
    return read(api.POST('/v1/admin/apps/{app}/usage/reprice', { params: { path: { app } }, body }));
  });
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 font-medium">Reprice a model at today’s prices</legend>
      <div className="flex flex-wrap items-start gap-3">
        <SelectField
          label="Provider type"
          value={provider}
          options={types.map((value) => ({ value, label: value }))}
          onChange={(next) => {
            reset();
            setProvider(next);
          }}
          reason={reason}
          error={problemAt(error, 'provider')}
        />
        <ModelField
          label="Model"
          model={model}
          providers={providers.filter(({ type }) => type === provider)}
          onChange={(next) => {
            // Exactly the preview is applied.
            reset();
            setModel(next);
          }}
          reason={reason}
          error={problemAt(error, 'model')}
        />
        <Button size="row" reason={reason} onClick={() => void run(false)}>
          Preview
        </Button>
      </div>
      {error !== undefined && problemAt(error, 'provider', 'model') === undefined && <ErrorAlert error={error} />}
      {preview !== undefined && (
        <Alert
          tone={preview.applied ? 'good' : 'warn'}
          actions={
            !preview.applied && (
              <Button size="sm" look="primary" reason={reason} onClick={() => void run(true)}>
                Apply
              </Button>
            )
          }
        >
          {countedText(preview.matched_events, 'call')}: {moneyText(preview.previous_cost_usd)} becomes{' '}
          {moneyText(preview.recalculated_cost_usd)}. {preview.applied && 'Applied.'}
        </Alert>
      )}
    </fieldset>
  );
}

/** A change of recorded costs, previewed before it is applied. `reset`: exactly the preview is applied. */
function useCorrection<T>(app: string, send: (apply: boolean) => Promise<T>) {
  const client = useQueryClient();
  const [preview, setPreview] = useState<T>();
  const [error, setError] = useState<unknown>();
  const reset = () => setPreview(undefined);
  const run = async (apply: boolean) => {
    setError(undefined);
    try {
      setPreview(await send(apply));
      if (apply) await Promise.all([['app', app], ['usage']].map((queryKey) => client.invalidateQueries({ queryKey })));
    } catch (thrown) {
      reset();
      setError(thrown);
    }
  };
  return { preview, error, reset, run };
}

function SettleForm({ app, month }: { readonly app: string; readonly month: string }) {
  const reason = useReadOnlyReason();
  const [cost, setCost] = useState<(typeof SETTLE_BY)[number]['value']>('estimate');
  const { preview, error, reset, run } = useCorrection<Settle>(app, (apply) => {
    const body = { month, cost, apply };
    return read(api.POST('/v1/admin/apps/{app}/usage/settle-estimates', { params: { path: { app } }, body }));
  });
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 font-medium">Settle estimated and unresolved costs</legend>
      <div className="flex flex-wrap items-start gap-3">
        <SelectField
          label="Settle them"
          value={cost}
          options={SETTLE_BY}
          onChange={(next) => {
            reset();
            setCost(next);
          }}
          reason={reason}
        />
        <Button size="row" reason={reason} onClick={() => void run(false)}>
          Preview
        </Button>
      </div>
      {error !== undefined && <ErrorAlert error={error} />}
      {preview !== undefined && (
        <Alert
          tone={preview.applied ? 'good' : 'warn'}
          actions={
            !preview.applied &&
            preview.matched_events > 0 && (
              <Button size="sm" look="primary" reason={reason} onClick={() => void run(true)}>
                Apply
              </Button>
            )
          }
        >
          {countedText(preview.matched_events, 'call')}: {moneyText(preview.previous_cost_usd)} becomes{' '}
          {moneyText(preview.settled_cost_usd)}. {preview.applied && 'Applied.'}
        </Alert>
      )}
    </fieldset>
  );
}
