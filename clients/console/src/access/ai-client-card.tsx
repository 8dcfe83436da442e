import { CodeBlock } from '../design/copy';
import { DocumentationLink } from '../design/documentation';
import { Card } from '../design/layout';
import { Tabs } from '../design/tabs';
import { aiClients } from './ai-clients.rules';

/** How a person lets an AI client manage the account. @param address absent: no client can connect. */
export function AiClientCard({ address }: { readonly address: string | undefined }) {
  if (address === undefined) return <NoAddress />;
  const tabs = aiClients(address).map(({ name, steps, code }) => ({
    value: name,
    label: name,
    content: (
      <div className="flex flex-col gap-3">
        <ol className="flex list-decimal flex-col gap-1 pl-5 text-sm">
          {steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        {code !== undefined && <CodeBlock code={code.text} label={code.label} />}
      </div>
    ),
  }));
  return (
    <Card
      title="Connect an AI client"
      lead="It manages this account with the tools of the gateway, as far as you allow it. Clients that run elsewhere must be able to reach the address."
    >
      <div className="flex flex-col gap-4">
        <CodeBlock code={address} label="Address of the MCP server" />
        <Tabs label="AI clients" tabs={tabs} />
      </div>
    </Card>
  );
}

function NoAddress() {
  return (
    <Card title="Connect an AI client">
      <p className="max-w-prose text-muted">
        AI clients cannot connect to this gateway yet: they need its public address. Set <code>PUBLIC_URL</code> to it,
        without <code>OAUTH_ENABLED=false</code>, and restart the gateway. This page then shows the address, and the
        steps for each client.{' '}
        <DocumentationLink to="/docs/guides/connect-an-ai-client">How to connect an AI client</DocumentationLink>
      </p>
    </Card>
  );
}
