import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { type Provider, queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { Choices, SelectField, TextField } from '../design/field';
import { Alert, ErrorAlert } from '../design/layout';
import { type Doubt, doubtAbout } from '../providers/provider-test';
import { labelOfType, PROVIDER_OPTIONS, type ProviderType } from '../providers/provider-types';
import { SIMULATED, SIMULATED_MODEL, simulatedProvider } from '../providers/simulated-provider';
import { useReadOnlyReason } from '../shell/session';
import { freeSlug } from './progress.rules';

type Way = 'key' | 'simulated';

const WAYS = [
  { value: 'key', label: 'My own provider', hint: 'OpenAI, Anthropic, Gemini and others, with your own key.' },
  { value: 'simulated', label: 'Simulated provider', hint: 'No key and no cost: the gateway makes up the answers.' },
] as const;

const isSimulated = ({ type }: Provider) => (type as string) === SIMULATED;

/** The first step: the provider. A key is tested before it is stored. */
export function FirstProvider({
  providers,
  chosen,
  onDone,
}: {
  readonly providers: readonly Provider[];
  /** The previously chosen one: its key can be replaced here. */
  readonly chosen: Provider | undefined;
  readonly onDone: (slug: string, model: string) => void;
}) {
  const { data: capabilities } = useQuery(queries.capabilities());
  const client = useQueryClient();
  const reason = useReadOnlyReason();
  const own = chosen === undefined || isSimulated(chosen) ? undefined : chosen;
  const [way, setWay] = useState<Way>(chosen === undefined || own !== undefined ? 'key' : 'simulated');
  const [type, setType] = useState<ProviderType>(own?.type ?? 'openai');
  const [secret, setSecret] = useState('');
  const [baseUrl, setBaseUrl] = useState(own?.baseUrl ?? '');
  const [doubt, setDoubt] = useState<{ readonly text: Doubt; readonly goOn: () => Promise<void> }>();
  const [asked, setAsked] = useState('');
  const submit = useSubmit();
  const { isBusy } = submit;
  /** The current values of the form: results for other values do not apply. */
  const question = JSON.stringify([way, type, secret, baseUrl]);
  const isAnswered = asked === question;
  const error = isAnswered ? submit.error : undefined;
  const run = (work: () => Promise<void>) => {
    setAsked(question);
    setDoubt(undefined);
    return submit.run(work);
  };
  const label = labelOfType(type);
  /** Its key is replaced; a key of any other provider creates a new one. */
  const replaced = own?.type === type && own.secretHint !== null ? own : undefined;
  const address = baseUrl === '' ? {} : { baseUrl };
  const create = async (body: Schemas['CreateProviderRequest']) =>
    (await read(api.POST('/v1/admin/providers', { body }))).provider.slug;
  const store = async () => {
    if (replaced === undefined) {
      const slug = freeSlug(
        type,
        providers.map((provider) => provider.slug),
      );
      return await create({ ...{ type, slug, name: label, secret }, ...address });
    }
    const params = { path: { id: replaced.id } };
    const body = { secret, baseUrl: baseUrl === '' ? null : baseUrl };
    await read(api.PUT('/v1/admin/providers/{id}', { params, body }));
    return replaced.slug;
  };
  const finish = async (made: () => Promise<string>, model: string) => {
    const slug = await made();
    await client.invalidateQueries({ queryKey: queries.providers().queryKey });
    onDone(slug, model);
  };
  const proceed = () =>
    run(async () => {
      if (way === 'simulated') {
        const known = providers.find(isSimulated)?.slug;
        return await finish(async () => known ?? (await create(simulatedProvider())), SIMULATED_MODEL);
      }
      const goOn = async () => await finish(store, await cheapModelOf(type));
      const text = await doubtAbout({ type, secret, ...address }, label);
      if (text === undefined) await goOn();
      else setDoubt({ text, goOn });
    });
  const use = (provider: Provider) =>
    run(async () => {
      if (isSimulated(provider)) return onDone(provider.slug, SIMULATED_MODEL);
      const goOn = async () => onDone(provider.slug, await cheapModelOf(provider.type));
      const text = await doubtAbout(provider, provider.name).catch((thrown: unknown) => {
        throw isRefusal(thrown) ? new Error(`${provider.name} refuses its stored key. Enter a key here.`) : thrown;
      });
      if (text === undefined) await goOn();
      else setDoubt({ text, goOn });
    });
  const problem = isRefusal(error)
    ? `${label} refuses this key. Copy it again, and continue.`
    : problemAt(error, 'secret');
  const isElsewhere = problem !== undefined || problemAt(error, 'baseUrl') !== undefined;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) void proceed();
      }}
    >
      {capabilities?.simulatedProvider === true && (
        <Choices legend="Where answers come from" value={way} choices={WAYS} onChange={setWay} />
      )}
      {way === 'key' && (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <SelectField label="Provider" value={type} options={PROVIDER_OPTIONS} onChange={setType} />
            <TextField
              label="Provider key"
              type="password"
              autoComplete="off"
              required
              hint={
                replaced === undefined
                  ? 'It is tested, encrypted and never shown again.'
                  : `It replaces the key of ${replaced.name} that ends with ${replaced.secretHint}.`
              }
              value={secret}
              onChange={setSecret}
              error={problem}
            />
          </div>
          <details className="text-sm" open={baseUrl !== '' || undefined}>
            <summary className="text-muted">The provider has another address</summary>
            <TextField
              label="Base URL"
              hint={`Empty: ${label}’s own.`}
              className="mt-3"
              value={baseUrl}
              onChange={setBaseUrl}
              error={problemAt(error, 'baseUrl')}
            />
          </details>
        </>
      )}
      {error !== undefined && !isElsewhere && <ErrorAlert error={error} />}
      {isAnswered && doubt !== undefined && (
        <Alert
          tone="warn"
          actions={
            <Button size="sm" onClick={() => void run(doubt.goOn)}>
              Continue without the test
            </Button>
          }
        >
          {doubt.text}
        </Alert>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" type="submit" isBusy={isBusy} reason={reason}>
          Continue
        </Button>
        {providers
          .filter(({ status }) => status === 'active')
          .slice(0, MOST_OFFERED)
          .map((provider) => (
            <Button key={provider.id} isBusy={isBusy} onClick={() => void use(provider)}>
              Use {provider.name}
            </Button>
          ))}
      </div>
    </form>
  );
}

const MOST_OFFERED = 4;

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'provider_key_invalid';
}

/** A model for a first call: the cheapest text model that is not retired. */
async function cheapModelOf(type: ProviderType): Promise<string> {
  const { prices } = await read(api.GET('/v1/admin/prices'));
  const today = new Date().toISOString();
  const models = Object.entries(prices[type] ?? {}).filter(
    ([, price]) =>
      price.input !== undefined &&
      price.output !== undefined &&
      price.audio_input === undefined &&
      price.image_output === undefined &&
      price.deprecated !== true &&
      (price.retirement_date ?? '9999') > today,
  );
  models.sort(([, a], [, b]) => (a.output ?? 0) - (b.output ?? 0));
  const favourite = FAVOURITES[type];
  return models.find(([name]) => name === favourite)?.[0] ?? models[0]?.[0] ?? '';
}

/** Known to be good and cheap for Chat Completions. */
const FAVOURITES: Readonly<Partial<Record<ProviderType, string>>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5',
  gemini: 'gemini-2.5-flash',
  mistral: 'mistral-small-latest',
};
