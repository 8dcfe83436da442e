import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { queries } from '../api/queries';
import { Button } from '../design/button';
import { SelectField } from '../design/field';
import { ModelField } from '../models/model-field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import type { Endpoint } from './endpoint.rules';

export type Target = Schemas['AppEndpointTarget'];

/** A provider that serves the style, and a model of it. */
export function TargetForm({
  label,
  target,
  style,
  onChange,
  onRemove,
  path,
}: {
  readonly label: string;
  readonly target: Target;
  readonly style: Endpoint['api_style'];
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
