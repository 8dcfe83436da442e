import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { Checkbox } from '../design/field';
import { Card, EmptyState, ErrorAlert } from '../design/layout';
import { Loaded } from '../design/loaded';
import { useToast } from '../design/toast';
import { useSession } from '../shell/session';
import { EventChoice } from '../webhooks/event-choice';
import { SettingsFrame } from './settings-frame';

type Mail = Schemas['MailResource'];

/** Which events of the current organization are mailed to the person. */
export function MailPage() {
  const { organization } = useSession();
  const query = useQuery(queries.mail());
  return (
    <SettingsFrame
      title="Mail"
      lead={`Which events are mailed to you from ${organization?.name ?? 'an organization'}.`}
    >
      <Card>
        <Loaded query={query}>
          {(mail) =>
            mail.configured ? (
              <MailForm key={JSON.stringify(mail.events)} mail={mail} />
            ) : (
              <EmptyState title="Mail is not configured">
                This gateway sends no mail. Its operator can set <code>SMTP_URL</code> and <code>MAIL_FROM</code>.
              </EmptyState>
            )
          }
        </Loaded>
      </Card>
    </SettingsFrame>
  );
}

function MailForm({ mail }: { readonly mail: Mail }) {
  const client = useQueryClient();
  const say = useToast();
  const { data: webhooks } = useQuery(queries.webhooks());
  const [isOn, setOn] = useState(mail.events === null || mail.events.length > 0);
  const [events, setEvents] = useState(mail.events?.length === 0 ? null : mail.events);
  const { run, error, isBusy } = useSubmit();
  const wanted = isOn ? events : [];
  const isSame = JSON.stringify(wanted) === JSON.stringify(mail.events);
  const save = () =>
    run(async () => {
      await read(api.PUT('/v1/admin/mail', { body: { events: wanted } }));
      await client.invalidateQueries({ queryKey: queries.mail().queryKey });
      say('Saved.');
    });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSame && mail.address !== null) void save();
      }}
    >
      <Checkbox
        label="Mail me events of this organization"
        hint={
          mail.address === null ? 'You have no e-mail address.' : `To ${mail.address}. Every mail says why you get it.`
        }
        checked={isOn}
        onChange={setOn}
        reason={mail.address === null ? 'You have no e-mail address.' : undefined}
      />
      {isOn && (
        <EventChoice
          types={webhooks?.event_types ?? []}
          filter={events}
          onChange={setEvents}
          error={problemAt(error, 'events')}
        />
      )}
      {error !== undefined && problemAt(error, 'events') === undefined && <ErrorAlert error={error} />}
      <div>
        <Button look="primary" type="submit" isBusy={isBusy} reason={isSame ? 'Nothing has changed.' : undefined}>
          Save
        </Button>
      </div>
    </form>
  );
}
