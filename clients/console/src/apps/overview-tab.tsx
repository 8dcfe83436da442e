import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { Button, ButtonLink } from '../design/button';
import { CodeBlock } from '../design/copy';
import { Alert, Badge, Card } from '../design/layout';
import { Loaded } from '../design/loaded';
import { Tabs } from '../design/tabs';
import { useAppDraft } from './app-draft';
import { MonthFigures } from './app-figures';
import { TryIt } from './try-it';

export function OverviewTab() {
  const { id } = useAppDraft();
  const query = useQuery(queries.appSummary(id));
  const [isTrying, setTrying] = useState(false);
  return (
    <>
      <Loaded query={query} rows={2}>
        {(summary) => summary !== null && <MonthFigures usage={summary.usage} />}
      </Loaded>
      <div className="grid gap-6 lg:grid-cols-2">
        <Readiness />
        <Card
          title="Call it"
          lead="The same request format as the provider’s own."
          actions={
            <Button size="sm" look="primary" onClick={() => setTrying(true)}>
              Try it
            </Button>
          }
        >
          <div className="flex flex-col gap-4">
            <CodeBlock
              label="Address of the proxy; a provider’s slug and path follow"
              code={`${location.origin}/v1/apps/${id}/proxy`}
            />
            <Snippets />
          </div>
        </Card>
      </div>
      <TryIt isOpen={isTrying} onClose={() => setTrying(false)} />
    </>
  );
}

function Readiness() {
  const { id } = useAppDraft();
  const query = useQuery(queries.appCheck(id));
  return (
    <Card title="Readiness" lead="What this application can call. This check sends nothing to a provider.">
      <Loaded query={query}>{(check) => <Check check={check} />}</Loaded>
    </Card>
  );
}

function Check({ check: { ready, providers, endpoints } }: { readonly check: Schemas['AppCheckResponse'] }) {
  const { loaded } = useAppDraft();
  const isDisabled = loaded.app.status === 'disabled';
  return (
    <div className="flex flex-col gap-3">
      <p>{ready ? <Badge tone="good">Ready</Badge> : <Badge tone="bad">Not ready</Badge>}</p>
      {isDisabled && <Alert tone="warn">The application is disabled: every call is refused.</Alert>}
      {providers.length === 0 && (
        <Alert tone="warn" actions={<ButtonLink to="/providers">Providers</ButtonLink>}>
          It reaches no provider, so every call is refused. Add a provider, or name one of yours under Proxy or
          Endpoints.
        </Alert>
      )}
      <ul className="flex flex-col gap-2">
        {providers.map(({ id, slug, status }) => (
          <li key={id} className="flex items-center justify-between gap-3">
            <code className="text-sm">{slug}</code>
            <Badge tone={status === 'active' ? 'good' : 'warn'}>{status === 'active' ? 'Active' : 'Disabled'}</Badge>
          </li>
        ))}
        {endpoints.map(({ slug, ready: isServing, problem }) => (
          <li key={slug} className="flex items-center justify-between gap-3">
            <span>
              Endpoint <code className="text-sm">{slug}</code>
            </span>
            <Badge tone={isServing ? 'good' : 'bad'}>
              {isServing
                ? 'Provider active'
                : problem === 'provider_disabled'
                  ? 'Provider disabled'
                  : 'Provider missing'}
            </Badge>
          </li>
        ))}
      </ul>
    </div>
  );
}

const LANGUAGES = { curl: 'curl', swift: 'Swift', kotlin: 'Kotlin' } as const;
type Language = keyof typeof LANGUAGES;

function Snippets() {
  const { id, loaded } = useAppDraft();
  const { type, proofs } = Object(Object(loaded.app.config).authentication);
  const isApple = type === 'device_app_attest' || Object(proofs).app_attest !== undefined;
  const isAndroid = Object(proofs).key_attestation !== undefined || Object(proofs).play_integrity !== undefined;
  const languages: Language[] = [
    'curl',
    ...(isApple ? (['swift'] as const) : []),
    ...(isAndroid ? (['kotlin'] as const) : []),
  ];
  return (
    <Tabs
      label="Language"
      tabs={languages.map((language) => ({
        value: language,
        label: LANGUAGES[language],
        content: <Snippet app={id} language={language} />,
      }))}
    />
  );
}

function Snippet({ app, language }: { readonly app: string; readonly language: Language }) {
  const query = useQuery({
    queryKey: ['app', app, 'snippet', language],
    queryFn: () => read(api.GET('/v1/admin/apps/{app}/snippet', { params: { path: { app }, query: { language } } })),
  });
  return (
    <Loaded query={query}>
      {({ snippet, notes }) => (
        <>
          <CodeBlock label={LANGUAGES[language]} code={snippet} />
          {notes.map((note) => (
            <p key={note} className="mt-2 text-xs text-muted">
              {note}
            </p>
          ))}
        </>
      )}
    </Loaded>
  );
}
