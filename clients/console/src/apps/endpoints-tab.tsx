import { useQuery } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { memberPath, problemAt, problemExactlyAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { CodeBlock } from '../design/copy';
import { SelectField, TextArea, TextField } from '../design/field';
import { Alert, Card, EmptyState } from '../design/layout';
import { NumberField } from '../design/number-field';
import { ModelField } from '../models/model-field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { TryIt } from './try-it';

type Endpoint = Schemas['AppResponsesEndpoint'] | Schemas['AppTranscriptionEndpoint'];
type Target = Schemas['AppEndpointTarget'];
type Style = Endpoint['api_style'];

const ENDPOINT_NAME = /^[a-z0-9-]{1,64}$/;
const STYLES = [
  { value: 'responses', label: 'Text (Responses)' },
  { value: 'transcription', label: 'Transcription' },
] as const;

export function EndpointsTab() {
  const { draft, changeConfig, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const { data: providers = [] } = useQuery(queries.providers());
  const endpoints = draft.config.endpoints ?? {};
  const [slug, setSlug] = useState('');
  const [style, setStyle] = useState<Style>('responses');
  const set = (next: Record<string, Endpoint>) => changeConfig({ endpoints: next });
  const nameProblem = problemOfName(slug, Object.keys(endpoints));
  const add = () => {
    const provider = providers.find(({ capability }) => capability.endpointStyles.includes(style))?.slug ?? '';
    const target = { provider, model: '' };
    set({
      ...endpoints,
      [slug]: style === 'responses' ? { ...target, api_style: style } : { ...target, api_style: style },
    });
    setSlug('');
  };
  return (
    <div className="flex flex-col gap-6">
      <Card
        title="New endpoint"
        lead="A stable address whose provider, model, parameters and fallbacks you can change."
      >
        <form
          className="flex flex-wrap items-start gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (reason === undefined && nameProblem === undefined) add();
          }}
        >
          <TextField
            label="Endpoint name"
            hint="Lower-case letters, digits and dashes."
            value={slug}
            onChange={setSlug}
            reason={reason}
            error={problemExactlyAt(error, 'config.endpoints')}
          />
          <SelectField label="Kind" value={style} options={STYLES} onChange={setStyle} reason={reason} />
          <Button size="row" type="submit" reason={reason ?? nameProblem}>
            Add endpoint
          </Button>
        </form>
      </Card>
      {Object.entries(endpoints).map(([name, endpoint]) => (
        <EndpointCard
          key={name}
          name={name}
          endpoint={endpoint}
          onChange={(next) => set({ ...endpoints, [name]: next })}
          onRemove={() => {
            const { [name]: _removed, ...others } = endpoints;
            set(others);
          }}
        />
      ))}
      {Object.keys(endpoints).length === 0 && (
        <Card>
          <EmptyState title="No endpoint yet">
            Your app calls <code>/endpoints/summarize</code>; which model answers, with which fallback, is decided here.
          </EmptyState>
        </Card>
      )}
    </div>
  );
}

/** Why an endpoint cannot have a name now. */
function problemOfName(slug: string, taken: readonly string[]): string | undefined {
  if (slug === '') return 'Name it first.';
  if (taken.includes(slug)) return 'There is an endpoint of this name.';
  return ENDPOINT_NAME.test(slug) ? undefined : 'Use 1 to 64 lower-case letters, digits and dashes.';
}

function EndpointCard({
  name,
  endpoint,
  onChange,
  onRemove,
}: {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly onChange: (endpoint: Endpoint) => void;
  readonly onRemove: () => void;
}) {
  const { id, error, isDirty } = useAppDraft();
  const reason = useReadOnlyReason();
  const [isTrying, setTrying] = useState(false);
  const path = memberPath('config.endpoints', name);
  const problem = problemExactlyAt(error, path) ?? problemExactlyAt(error, `${path}.fallback`);
  const { fallback = [] } = endpoint;
  const setFallback = (targets: readonly Target[]) => onChange({ ...endpoint, fallback: [...targets] });
  return (
    <Card
      title={name}
      actions={
        <span className="flex gap-2">
          {endpoint.api_style === 'responses' && (
            <Button
              size="sm"
              reason={isDirty ? 'Save first: the call runs what is stored.' : undefined}
              onClick={() => setTrying(true)}
            >
              Try it
            </Button>
          )}
          <Button size="sm" reason={reason} onClick={onRemove} aria-label={`Remove ${name}`}>
            Remove
          </Button>
        </span>
      }
    >
      <div className="flex flex-col gap-5">
        {problem !== undefined && <Alert>{problem}</Alert>}
        <CodeBlock label={`URL of ${name}`} code={`${location.origin}/v1/apps/${id}/endpoints/${name}`} />
        <TargetForm
          label="Target"
          target={endpoint}
          style={endpoint.api_style}
          onChange={(target) => onChange({ ...endpoint, ...target })}
          path={path}
        />
        {fallback.map((target, index) => (
          <TargetForm
            key={String(index)}
            label={`Fallback ${index + 1}`}
            target={target}
            style={endpoint.api_style}
            onChange={(next) => setFallback(fallback.map((own, at) => (at === index ? next : own)))}
            onRemove={() => setFallback(fallback.filter((_, at) => at !== index))}
            path={`${path}.fallback.${index}`}
          />
        ))}
        <div>
          <Button size="sm" reason={reason} onClick={() => setFallback([...fallback, { provider: '', model: '' }])}>
            <Plus size={13} /> Add a fallback
          </Button>
        </div>
        {endpoint.api_style === 'responses' && (
          <ParamsForm
            name={name}
            endpoint={endpoint}
            onChange={onChange}
            problem={problemAt(error, `${path}.params`)}
            ceilingProblem={problemAt(error, `${path}.max_output_tokens`)}
          />
        )}
      </div>
      {isTrying && <TryIt isOpen onClose={() => setTrying(false)} endpoint={name} />}
    </Card>
  );
}

function TargetForm({
  label,
  target,
  style,
  onChange,
  onRemove,
  path,
}: {
  readonly label: string;
  readonly target: Target;
  readonly style: Style;
  readonly onChange: (target: Target) => void;
  readonly onRemove?: () => void;
  /** Of its members in the API's messages. */
  readonly path: string;
}) {
  const { error } = useAppDraft();
  const { data: providers = [] } = useQuery(queries.providers());
  const reason = useReadOnlyReason();
  const able = providers.filter(({ capability }) => capability.endpointStyles.includes(style));
  const isKnown = able.some(({ slug }) => slug === target.provider);
  const options = [
    ...(isKnown ? [] : [{ value: target.provider, label: target.provider || 'Choose…' }]),
    ...able.map(({ slug, name }) => ({ value: slug, label: name })),
  ];
  return (
    <fieldset className="flex flex-wrap items-start gap-3">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      <SelectField
        label={`Provider of ${label.toLowerCase()}`}
        value={target.provider}
        options={options}
        onChange={(provider) => onChange({ provider, model: target.model })}
        reason={reason}
        error={problemAt(error, `${path}.provider`)}
      />
      <ModelField
        label={`Model of ${label.toLowerCase()}`}
        model={target.model}
        providers={able.filter(({ slug }) => slug === target.provider)}
        onChange={(model) => onChange({ provider: target.provider, model })}
        reason={reason}
        error={problemAt(error, `${path}.model`)}
        className="min-w-52 flex-1"
      />
      {onRemove !== undefined && (
        <Button look="ghost" size="row" reason={reason} onClick={onRemove} aria-label={`Remove ${label.toLowerCase()}`}>
          <Trash2 size={14} />
        </Button>
      )}
    </fieldset>
  );
}

/** The member that the gateway sets where a request has no limit of its own. */
function ceilingOf(ceiling: number | undefined): { readonly max_output_tokens?: number } {
  return ceiling === undefined ? {} : { max_output_tokens: ceiling };
}

/** Parameters as JSON, and the request that the provider gets with them. */
function ParamsForm({
  name,
  endpoint,
  onChange,
  problem,
  ceilingProblem,
}: {
  readonly name: string;
  readonly endpoint: Schemas['AppResponsesEndpoint'];
  readonly onChange: (endpoint: Endpoint) => void;
  readonly problem: string | undefined;
  readonly ceilingProblem: string | undefined;
}) {
  const reason = useReadOnlyReason();
  const [typed, setTyped] = useState('');
  const text = textOfParams(endpoint.params, typed);
  const params = parsedMap(text);
  const { max_output_tokens: ceiling, ...rest } = endpoint;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="flex flex-col gap-4">
        <TextArea
          label="Parameters (JSON)"
          hint="Merged into every request; they override what the client sends."
          rows={8}
          value={text}
          onChange={(text) => {
            setTyped(text);
            onChange({ ...endpoint, params: parsedMap(text) ?? unreadable(text) });
          }}
          reason={reason}
          error={params === undefined ? 'is not a JSON object' : problem}
        />
        <NumberField
          label="Max output tokens"
          hint="Empty: no ceiling here; the provider’s own applies."
          value={ceiling}
          onChange={(value) => onChange(value === undefined ? rest : { ...rest, max_output_tokens: value })}
          reason={reason}
          error={ceilingProblem}
        />
      </div>
      <CodeBlock
        label={`The request with which ${name} asks “Hello”`}
        code={JSON.stringify({ input: 'Hello', ...ceilingOf(ceiling), ...params, model: endpoint.model }, null, 2)}
      />
    </div>
  );
}

type Params = NonNullable<Schemas['AppResponsesEndpoint']['params']>;

/** A text that is not a JSON object is the value itself, until it is one: the gateway refuses to store it. */
function unreadable(text: string): Params {
  return text as unknown as Params;
}

/** The text of a value: as it was typed, as long as that is what it means. */
function textOfParams(params: Params | undefined, typed: string): string {
  if (typeof params === 'string') return params;
  const value = params ?? {};
  return JSON.stringify(parsedMap(typed)) === JSON.stringify(value) ? typed : JSON.stringify(value, null, 2);
}

function parsedMap(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
