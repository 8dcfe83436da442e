import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { Choices, SelectField, TextField } from '../design/field';
import { Badge, Card, EmptyState } from '../design/layout';
import { NumberField } from '../design/number-field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import { ListField } from './list-field';
import { ModelPicker } from './model-picker';

type Selected = Schemas['AppSelectedProvider'];
type Selection = Readonly<Record<string, Selected>>;

const MODES = [
  { value: 'all', label: 'Every provider', hint: 'All providers of the account, with every model that has a price.' },
  { value: 'selected', label: 'Selected providers', hint: 'Only those below, with the paths and models you allow.' },
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
          legend="It may call"
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
  const { data: providers = [] } = useQuery(queries.providers());
  const reason = useReadOnlyReason();
  const free = providers.filter(({ slug }) => selected[slug] === undefined);
  const [chosen, setChosen] = useState('');
  const slug = free.some((provider) => provider.slug === chosen) ? chosen : (free[0]?.slug ?? '');
  return (
    <>
      {Object.entries(selected).map(([key, policy]) => {
        const provider = providers.find((known) => known.slug === key);
        return (
          <Card
            key={key}
            title={provider?.name ?? key}
            lead={<code>{key}</code>}
            actions={
              <span className="flex items-center gap-2">
                {provider === undefined && <Badge tone="bad">Deleted</Badge>}
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
            <PolicyForm
              slug={key}
              type={provider?.type}
              policy={policy}
              onChange={(next) => onChange({ ...selected, [key]: next })}
            />
          </Card>
        );
      })}
      {Object.keys(selected).length === 0 && (
        <Card>
          <EmptyState title="No provider selected">Every call is refused until you select one.</EmptyState>
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
  type,
  policy,
  onChange,
}: {
  readonly slug: string;
  readonly type: string | undefined;
  readonly policy: Selected;
  readonly onChange: (policy: Selected) => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const path = `config.routing.providers.selected.${slug}`;
  const plain = policy.allowed_paths.filter((allowed) => typeof allowed === 'string');
  const detailed = policy.allowed_paths.filter((allowed) => typeof allowed !== 'string');
  const { max_output_tokens: ceiling, ...rest } = policy;
  return (
    <div className="flex flex-col gap-5">
      <ModelPicker
        type={type}
        models={policy.allowed_models}
        onChange={(allowed_models) => onChange({ ...policy, allowed_models })}
        error={problemAt(error, `${path}.allowed_models`)}
      />
      <ListField
        label="Allowed paths"
        hint="One a line, as v1/chat/completions. Empty: the inference paths of its type."
        entries={plain}
        onChange={(paths) => onChange({ ...policy, allowed_paths: [...paths, ...detailed] })}
        error={problemAt(error, `${path}.allowed_paths`)}
      />
      {detailed.length > 0 && (
        <p className="text-sm text-muted">
          {detailed.length} further paths have settings of their own:{' '}
          {detailed.map((allowed) => allowed.path).join(', ')}. They are kept as they are.
        </p>
      )}
      <NumberField
        label="Most output tokens a call"
        hint="Empty: the model’s own maximum."
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
    <Card title="Model rewrites" lead="Clients keep sending a name; you decide which model serves it.">
      <div className="flex flex-col gap-3">
        {rewrites.map(([sent, called]) => (
          <div key={sent} className="flex flex-wrap items-center gap-2 text-sm">
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
          <TextField label="Model that is sent" value={from} onChange={setFrom} reason={reason} />
          <TextField
            label="Model that is called"
            value={to}
            onChange={setTo}
            reason={reason}
            error={problemAt(error, 'config.routing.model_rewrites')}
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
