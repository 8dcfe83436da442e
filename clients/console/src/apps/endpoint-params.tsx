import { useState } from 'react';
import type { Schemas } from '../api/client';
import { CodeBlock } from '../design/copy';
import { TextArea } from '../design/field';
import { NumberField } from '../design/number-field';
import { useReadOnlyReason } from '../shell/session';

/** The member that the gateway sets if a request has no limit. */
function ceilingOf(ceiling: number | undefined): { readonly max_output_tokens?: number } {
  return ceiling === undefined ? {} : { max_output_tokens: ceiling };
}

/** Parameters as JSON, and the request that the provider gets with them. */
export function ParamsForm({
  name,
  endpoint,
  onChange,
  problem,
  ceilingProblem,
}: {
  readonly name: string;
  readonly endpoint: Schemas['AppResponsesEndpoint'];
  readonly onChange: (endpoint: Schemas['AppResponsesEndpoint']) => void;
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

/** A text that is not a JSON object is kept as the value; the gateway refuses to store it. */
function unreadable(text: string): Params {
  return text as unknown as Params;
}

/** The text of a value: as typed, while both are equal. */
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
