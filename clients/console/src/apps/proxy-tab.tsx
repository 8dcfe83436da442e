import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { memberPath, problemAt, problemExactlyAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { type Provider, queries } from '../api/queries';
import { countedText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { Choices, Problem, SelectField, TextField } from '../design/field';
import { Alert, Badge, Card, EmptyState } from '../design/layout';
import { NumberField } from '../design/number-field';
import { ModelField } from '../models/model-field';
import { PROVIDER_OPTIONS } from '../providers/provider-types';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { coverageOf, coverageText } from './coverage.rules';
import { ModelPicker } from './model-picker';
import { PathPicker } from './path-picker';

type Selected = Schemas['AppSelectedProvider'];
type Selection = Readonly<Record<string, Selected>>;

const PATH = 'config.routing.providers.selected';
const REWRITES = 'config.routing.model_rewrites';
const TYPES = PROVIDER_OPTIONS.map(({ value }) => value as string);

const MODES = [
  {
    value: 'all',
    label: 'Every provider',
    hint: 'All providers of the account, also those added later, with every model whose cost is known.',
  },
  {
    value: 'selected',
    label: 'Selected providers',
    hint: 'Those that an entry below covers, with the paths and models you allow.',
  },
] as const;

export function ProxyTab() {
  const { draft, changeConfig } = useAppDraft();
  const reason = useReadOnlyReason();
  const { routing } = draft.config;
  const { providers } = routing;
  const setProviders = (next: Schemas['AppRouting']['providers']) =>
    changeConfig({ routing: { ...routing, providers: next } });
  return (
    <div className="flex flex-col gap-6">
      <Card title="Providers" lead="Which providers this application may call, and how.">
        <Choices
          legend="Allowed providers"
          value={providers.mode}
          choices={MODES}
          onChange={(mode) => {
            if (reason === undefined && mode !== providers.mode) {
              setProviders(mode === 'all' ? { mode } : { mode, selected: {} });
            }
          }}
        />
      </Card>
      {providers.mode === 'selected' && (
        <SelectedProviders
          selected={providers.selected}
          onChange={(selected) => setProviders({ mode: 'selected', selected })}
        />
      )}
      <Rewrites />
    </div>
  );
}

function SelectedProviders({
  selected,
  onChange,
}: {
  readonly selected: Selection;
  readonly onChange: (selected: Record<string, Selected>) => void;
}) {
  const { error } = useAppDraft();
  const { data } = useQuery(queries.providers());
  const providers = data ?? [];
  const reason = useReadOnlyReason();
  const free = providers.filter(({ slug }) => selected[slug] === undefined);
  const [chosen, setChosen] = useState('');
  const slug = free.some((provider) => provider.slug === chosen) ? chosen : (free[0]?.slug ?? '');
  return (
    <>
      {Object.entries(selected).map(([key, policy]) => {
        const provider = providers.find((known) => known.slug === key);
        const coverage = coverageOf(key, Object.keys(selected), providers, TYPES);
        const problem = problemExactlyAt(error, memberPath(PATH, key));
        return (
          <Card
            key={key}
            title={provider?.name ?? key}
            lead={<code>{key}</code>}
            actions={
              <span className="flex items-center gap-2">
                {data !== undefined && coverage.providers.length === 0 && !coverage.isType && (
                  <Badge tone="bad">Deleted</Badge>
                )}
                {provider?.status === 'disabled' && <Badge tone="warn">Disabled</Badge>}
                <Button
                  size="sm"
                  reason={reason}
                  aria-label={`Remove ${key}`}
                  onClick={() => {
                    const { [key]: _removed, ...others } = selected;
                    onChange(others);
                  }}
                >
                  Remove
                </Button>
              </span>
            }
          >
            {problem !== undefined && <Alert>{problem}</Alert>}
            {data !== undefined && <p className="mb-4 text-sm text-muted">{coverageText(key, coverage)}</p>}
            <PolicyForm
              slug={key}
              covered={coverage.providers}
              type={provider?.type ?? (coverage.isType ? key : undefined)}
              policy={policy}
              onChange={(next) => onChange({ ...selected, [key]: next })}
            />
          </Card>
        );
      })}
      {Object.keys(selected).length === 0 && (
        <Card>
          <EmptyState title="No providers selected">
            The proxy refuses every call until you select one. Named endpoints have their own targets.
          </EmptyState>
        </Card>
      )}
      {free.length > 0 && (
        <div className="flex items-start gap-2">
          <SelectField
            label="Add a provider"
            value={slug}
            options={free.map(({ slug: value, name }) => ({ value, label: name }))}
            onChange={setChosen}
            reason={reason}
          />
          <Button
            size="row"
            reason={reason}
            onClick={() => onChange({ ...selected, [slug]: { allowed_paths: [], allowed_models: [] } })}
          >
            Add
          </Button>
        </div>
      )}
    </>
  );
}

function PolicyForm({
  slug,
  covered,
  type,
  policy,
  onChange,
}: {
  readonly slug: string;
  readonly covered: readonly Provider[];
  readonly type: string | undefined;
  readonly policy: Selected;
  readonly onChange: (policy: Selected) => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const path = memberPath(PATH, slug);
  const plain = policy.allowed_paths.filter((allowed) => typeof allowed === 'string');
  const detailed = policy.allowed_paths.filter((allowed) => typeof allowed !== 'string');
  const { max_output_tokens: ceiling, ...rest } = policy;
  return (
    <div className="flex flex-col gap-5">
      <ModelPicker
        type={type}
        covered={covered}
        models={policy.allowed_models}
        onChange={(allowed_models) => onChange({ ...policy, allowed_models })}
        error={problemAt(error, `${path}.allowed_models`)}
      />
      <PathPicker
        covered={covered}
        paths={plain}
        onChange={(paths) => onChange({ ...policy, allowed_paths: [...paths, ...detailed] })}
        error={problemAt(error, `${path}.allowed_paths`)}
      />
      {detailed.length > 0 && (
        <p className="text-sm text-muted">
          {countedText(detailed.length, 'further path has', 'further paths have')} settings that this form does not show
          but keeps: {detailed.map((allowed) => allowed.path).join(', ')}.
        </p>
      )}
      <NumberField
        label="Max output tokens"
        hint="Empty: no ceiling here; the provider’s own applies."
        value={ceiling}
        onChange={(value) => onChange(value === undefined ? rest : { ...rest, max_output_tokens: value })}
        reason={reason}
        error={problemAt(error, `${path}.max_output_tokens`)}
      />
    </div>
  );
}

/** Model names that clients send, and the models that are called instead. */
function Rewrites() {
  const { draft, changeConfig, error } = useAppDraft();
  const reason = useReadOnlyReason();
  const { routing } = draft.config;
  const rewrites = Object.entries(routing.model_rewrites);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const set = (entries: readonly (readonly [string, string])[]) =>
    changeConfig({ routing: { ...routing, model_rewrites: Object.fromEntries(entries) } });
  return (
    <Card title="Model rewrites" lead="Clients keep sending one model name; you decide which model serves it.">
      <div className="flex flex-col gap-3">
        {rewrites.map(([sent, called]) => (
          <div key={sent} className="flex flex-wrap items-center gap-2 text-sm">
            <Problem text={problemAt(error, memberPath(REWRITES, sent))} className="w-full" />
            <code className="break-all">{sent}</code> → <code className="break-all">{called}</code>
            <Button
              size="sm"
              look="ghost"
              reason={reason}
              aria-label={`Remove the rewrite of ${sent}`}
              onClick={() => set(rewrites.filter(([own]) => own !== sent))}
            >
              <Trash2 size={13} />
            </Button>
          </div>
        ))}
        <form
          className="flex flex-wrap items-start gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (reason !== undefined || from === '' || to === '') return;
            set([...rewrites.filter(([own]) => own !== from), [from, to]]);
            setFrom('');
            setTo('');
          }}
        >
          <TextField label="Requested model" value={from} onChange={setFrom} reason={reason} />
          <ModelField
            label="Model to call"
            model={to}
            onChange={setTo}
            reason={reason}
            error={problemExactlyAt(error, REWRITES)}
          />
          <Button
            size="row"
            type="submit"
            reason={reason ?? (from === '' || to === '' ? 'Enter both models.' : undefined)}
          >
            Add rewrite
          </Button>
        </form>
      </div>
    </Card>
  );
}
