import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf, problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { type Provider, queries } from '../api/queries';
import { Button } from '../design/button';
import { Choices, SelectField, TextField } from '../design/field';
import { Alert } from '../design/layout';
import { labelOfType, PROVIDER_OPTIONS, type ProviderType } from '../providers/provider-types';
import { SIMULATED, SIMULATED_MODEL, simulatedProvider } from '../providers/simulated-provider';
import { useReadOnlyReason } from '../shell/session';

type Way = 'key' | 'simulated';

const WAYS = [
  { value: 'key', label: 'My own provider', hint: 'OpenAI, Anthropic, Gemini and others, with a key of yours.' },
  { value: 'simulated', label: 'Simulated provider', hint: 'No key, no cost: the gateway generates the answers.' },
] as const;

/** The first step: who answers. */
export function FirstProvider({
  providers,
  onDone,
}: {
  readonly providers: readonly Provider[];
  readonly onDone: (slug: string, model: string) => void;
}) {
  const { data: capabilities } = useQuery(queries.capabilities());
  const client = useQueryClient();
  const reason = useReadOnlyReason();
  const isSimulationOffered = capabilities?.simulatedProvider === true;
  const [way, setWay] = useState<Way>('key');
  const [type, setType] = useState<ProviderType>('openai');
  const [secret, setSecret] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const create = async (body: Schemas['CreateProviderRequest'], model: string) => {
    const { provider } = await read(api.POST('/v1/admin/providers', { body }));
    await client.invalidateQueries({ queryKey: queries.providers().queryKey });
    onDone(provider.slug, model);
  };
  const proceed = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const known = providers.find((provider) => provider.type === (way === 'simulated' ? SIMULATED : type));
      if (way === 'simulated') {
        if (known !== undefined) onDone(known.slug, SIMULATED_MODEL);
        else await create(simulatedProvider(), SIMULATED_MODEL);
      } else await create({ type, name: labelOfType(type), secret }, await cheapModelOf(type));
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const problem = problemAt(error, 'secret');
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) void proceed();
      }}
    >
      {isSimulationOffered && <Choices legend="Who answers?" value={way} choices={WAYS} onChange={setWay} />}
      {way === 'key' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField label="Provider" value={type} options={PROVIDER_OPTIONS} onChange={setType} />
          <TextField
            label="Provider key"
            type="password"
            autoComplete="off"
            required
            hint="It is sealed here and never shown again."
            value={secret}
            onChange={setSecret}
            error={problem}
          />
        </div>
      )}
      {error !== undefined && problem === undefined && <Alert>{messageOf(error)}</Alert>}
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" type="submit" isBusy={isBusy} reason={reason}>
          Continue
        </Button>
        {providers.length > 0 && <UseExisting providers={providers} onDone={onDone} />}
      </div>
    </form>
  );
}

function UseExisting({
  providers: [first],
  onDone,
}: {
  readonly providers: readonly Provider[];
  readonly onDone: (slug: string, model: string) => void;
}) {
  if (first === undefined) return null;
  const take = async () =>
    onDone(first.slug, (first.type as string) === SIMULATED ? SIMULATED_MODEL : await cheapModelOf(first.type));
  return <Button onClick={() => void take()}>Use {first.name}</Button>;
}

/** A deployment that has it describes this type in its own OpenAPI document; the one of the project does not. */
/** A model for a first call: the cheapest one that is for text and not retired. */
async function cheapModelOf(type: ProviderType): Promise<string> {
  const { prices } = await read(api.GET('/v1/admin/prices'));
  const today = new Date().toISOString();
  const models = Object.entries(prices[type] ?? {}).filter(
    ([, price]) =>
      price.input !== undefined &&
      price.output !== undefined &&
      price.audio_input === undefined &&
      price.image_output === undefined &&
      (price.retirement_date ?? '9999') > today,
  );
  models.sort(([, a], [, b]) => (a.output ?? 0) - (b.output ?? 0));
  const favourite = FAVOURITES[type];
  return models.find(([name]) => name === favourite)?.[0] ?? models[0]?.[0] ?? '';
}

/** Known to answer Chat Completions well for little money. */
const FAVOURITES: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5',
  gemini: 'gemini-2.5-flash',
  mistral: 'mistral-small-latest',
};
