import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { SelectField, TextField } from '../design/field';
import { Alert, ErrorAlert } from '../design/layout';
import { useToast } from '../design/toast';
import { baseUrlHint, baseUrlProblem } from './base-url.rules';
import { type Verdict } from './probe.rules';
import { markTested, testedBy } from './provider-test';
import { labelOfType, PROVIDER_OPTIONS, type ProviderType } from './provider-types';
import { simulatedProvider } from './simulated-provider';

const OWN_KEY = '';

export function NewProvider({ onDone }: { readonly onDone: (slug: string) => void }) {
  const client = useQueryClient();
  const say = useToast();
  const { data: capabilities } = useQuery(queries.capabilities());
  const { data: gateways = [] } = useQuery(queries.gateways());
  const [type, setType] = useState<ProviderType>('openai');
  const [name, setName] = useState('');
  const [slug, setSlug] = useState('');
  const [gateway, setGateway] = useState(OWN_KEY);
  const [secret, setSecret] = useState('');
  const [baseUrl, setBaseUrl] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [isMoreOpen, setMoreOpen] = useState(false);
  const [tested, setTested] = useState<{ readonly verdict: Verdict; readonly of: string }>();
  const credential =
    gateway === OWN_KEY ? { secret, ...(baseUrl === '' ? {} : { baseUrl }) } : { providerGatewayId: gateway };
  const candidate = JSON.stringify({ type, ...credential });
  /** The result of a test of the current values of the form. */
  const verdict = tested?.of === candidate ? tested.verdict : undefined;
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const test = () =>
    run(async () => {
      setTested({ verdict: await testedBy({ type, ...credential }, labelOfType(type)), of: candidate });
    });
  const add = (body: Schemas['CreateProviderRequest'], isTested = false) =>
    run(async () => {
      const { provider } = await read(api.POST('/v1/admin/providers', { body }));
      // The test result is stored with the provider: its row is marked.
      if (isTested) await markTested(provider);
      await client.invalidateQueries({ queryKey: queries.providers().queryKey });
      say(`${provider.name} is added as ${provider.slug}.`);
      onDone(provider.slug);
    });
  const doubled = gateway === OWN_KEY ? baseUrlProblem(type, baseUrl) : undefined;
  const fields = ['type', 'name', 'slug', 'secret', 'baseUrl', 'providerGatewayId'];
  const isAtField = fields.some((field) => problemAt(error, field) !== undefined);
  const isHidden = !isMoreOpen && problemAt(error, 'slug', 'baseUrl') !== undefined;
  useEffect(() => {
    if (isHidden) setMoreOpen(true);
  }, [isHidden]);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (doubled !== undefined) return;
        const body = { type, name: name || labelOfType(type), ...credential, ...(slug === '' ? {} : { slug }) };
        void add(body, verdict !== undefined);
      }}
    >
      <SelectField
        label="Type"
        value={type}
        options={PROVIDER_OPTIONS}
        onChange={setType}
        error={problemAt(error, 'type')}
      />
      <TextField
        label="Name"
        placeholder={labelOfType(type)}
        maxLength={100}
        value={name}
        onChange={setName}
        error={problemAt(error, 'name')}
      />
      {gateways.length > 0 && (
        <SelectField
          label="Connection"
          value={gateway}
          options={[
            { value: OWN_KEY, label: 'Direct, with a key' },
            ...gateways.map(({ id, name: label }) => ({ value: id, label: `through ${label}` })),
          ]}
          onChange={setGateway}
          error={problemAt(error, 'providerGatewayId')}
        />
      )}
      {gateway === OWN_KEY && (
        <TextField
          label="Provider key"
          type="password"
          autoComplete="off"
          required
          value={secret}
          onChange={setSecret}
          error={problemAt(error, 'secret') ?? (verdict?.isRefused ? verdict.text : undefined)}
        />
      )}
      <details className="text-sm" open={isMoreOpen} onToggle={(event) => setMoreOpen(event.currentTarget.open)}>
        <summary className="text-muted">More</summary>
        <div className="mt-3 flex flex-col gap-4">
          <TextField
            label="Slug"
            hint="Identifies the provider in URLs and rules, and cannot be changed later. Defaults to the type."
            placeholder={type}
            value={slug}
            onChange={setSlug}
            error={problemAt(error, 'slug')}
          />
          {gateway === OWN_KEY && (
            <TextField
              label="Base URL"
              hint={baseUrlHint(type)}
              value={baseUrl}
              onChange={setBaseUrl}
              error={doubled ?? problemAt(error, 'baseUrl')}
            />
          )}
        </div>
      </details>
      {verdict !== undefined && !(verdict.isRefused && gateway === OWN_KEY) && (
        <Alert tone={verdict.tone}>{verdict.text}</Alert>
      )}
      {error !== undefined && !isAtField && <ErrorAlert error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {capabilities?.simulatedProvider === true && (
          <Button look="ghost" isBusy={isBusy} onClick={() => void add(simulatedProvider())}>
            Add the simulated provider instead
          </Button>
        )}
        <Button isBusy={isBusy} reason={doubled && 'Correct the base URL first.'} onClick={() => void test()}>
          Test
        </Button>
        <Button look="primary" type="submit" isBusy={isBusy}>
          {verdict?.isRefused ? 'Create anyway' : 'Create'}
        </Button>
      </div>
    </form>
  );
}
