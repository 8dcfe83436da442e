import type { Webhook } from '../api/queries';
import { countText } from '../design/amounts.rules';
import { DocumentationLink } from '../design/documentation';
import { Badge } from '../design/layout';
import { SecretDialog } from '../design/secret-dialog';

/** Whether events are sent. */
export function WebhookState({ webhook: { enabled, disabled_reason: reason } }: { readonly webhook: Webhook }) {
  if (enabled) return <Badge tone="good">Enabled</Badge>;
  return reason === 'gone' ? <Badge tone="bad">Disabled: answered 410</Badge> : <Badge tone="warn">Disabled</Badge>;
}

/** A summary of a filter. */
export function filterText(filter: readonly string[] | null, every: string, one: string, many: string): string {
  if (filter === null) return every;
  return filter.length === 1 ? one : `${countText(filter.length)} ${many}`;
}

/** The secret of a webhook, shown once. */
export function WebhookSecretDialog({
  title,
  secret,
  note,
  onClose,
}: {
  readonly title: string;
  readonly secret: string | undefined;
  /** Its effect. */
  readonly note?: string;
  readonly onClose: () => void;
}) {
  return (
    <SecretDialog
      title={title}
      label="Signing secret"
      warning="This secret is shown only once. The gateway stores it encrypted."
      secret={secret}
      onClose={onClose}
    >
      <p className="text-sm text-muted">
        {note} Store it where the endpoint runs, and{' '}
        <DocumentationLink to="/docs/guides/webhooks#verify-the-signature">verify the signature</DocumentationLink> of
        every request with it, so that nobody else can send events.
      </p>
    </SecretDialog>
  );
}
