import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { problemAt, problemExactlyAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { Button } from '../design/button';
import { SelectField, TextArea, TextField } from '../design/field';
import { Badge } from '../design/layout';
import { NumberField } from '../design/number-field';
import { SuggestField, type Suggestion } from '../design/suggest-field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';
import {
  claimPathsOf,
  claimsOf,
  fulfils,
  ISSUER_PRESETS,
  issuerOf,
  listOfText,
  missingOf,
  textOfList,
  USER_CLAIMS,
  USUAL_CLAIMS,
} from './issuer.rules';

type Issuer = Schemas['AppIssuer'];
type RequiredClaim = Issuer['required_claims'][number];

const PATH = 'config.authentication.end_user.issuer';
const DAY_SECONDS = 86_400;

const claimAt = (index: number) => `${PATH}.required_claims.${index}`;

/** An issuer without anything filled in. */
export function emptyIssuer(): Issuer {
  return {
    ...{ jwks_url: '', issuer: '', audience: '', user_id_claim: 'sub' },
    ...{ required_claims: [], max_token_lifetime_seconds: DAY_SECONDS },
  };
}

export function IssuerForm({
  issuer,
  onChange,
}: {
  readonly issuer: Issuer;
  readonly onChange: (issuer: Issuer) => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const set = (members: Partial<Issuer>) => onChange({ ...issuer, ...members });
  return (
    <div className="flex flex-col gap-5">
      <Preset initial={issuer.provider} onFill={(members) => onChange({ ...issuer, ...members })} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="JWKS URL"
          value={issuer.jwks_url}
          onChange={(jwks_url) => set({ jwks_url })}
          reason={reason}
          error={problemAt(error, `${PATH}.jwks_url`)}
          className="sm:col-span-2"
        />
        <TextField
          label="Issuer (iss)"
          value={textOfList(issuer.issuer)}
          onChange={(text) => set({ issuer: listOfText(text) })}
          reason={reason}
          error={problemAt(error, `${PATH}.issuer`)}
        />
        <TextField
          label="Audience (aud)"
          value={textOfList(issuer.audience)}
          onChange={(text) => set({ audience: listOfText(text) })}
          reason={reason}
          error={problemAt(error, `${PATH}.audience`)}
        />
        <SuggestField
          label="User ID claim"
          known={USER_CLAIMS}
          hint="For example, sub, or user.id for a nested claim."
          value={textOfList(issuer.user_id_claim, '.')}
          onChange={(user_id_claim) => set({ user_id_claim })}
          reason={reason}
          error={problemAt(error, `${PATH}.user_id_claim`)}
        />
        <NumberField
          label="Maximum token lifetime (seconds)"
          value={issuer.max_token_lifetime_seconds}
          onChange={(seconds = DAY_SECONDS) => set({ max_token_lifetime_seconds: seconds })}
          reason={reason}
          error={problemAt(error, `${PATH}.max_token_lifetime_seconds`)}
          isRequired
        />
      </div>
      <RequiredClaims claims={issuer.required_claims} onChange={(required_claims) => set({ required_claims })} />
    </div>
  );
}

/** Fills in the addresses of a known identity provider from the few values that are specific to the customer. */
function Preset({
  initial,
  onFill,
}: {
  readonly initial: Issuer['provider'];
  readonly onFill: (members: Partial<Issuer>) => void;
}) {
  const reason = useReadOnlyReason();
  const [id, setId] = useState<string>(initial ?? 'custom');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const preset = ISSUER_PRESETS.find((known) => known.id === id);
  const missing = preset === undefined ? [] : missingOf(preset, values);
  return (
    <div className="flex flex-col gap-3 rounded-md bg-sunken p-3">
      <SelectField
        label="Identity provider"
        value={id}
        options={ISSUER_PRESETS.map(({ id: value, label }) => ({ value, label }))}
        onChange={setId}
        reason={reason}
        className="sm:w-1/2"
      />
      {preset !== undefined && id !== 'custom' && (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            {preset.fields.map(({ name, label, example }) => (
              <TextField
                key={name}
                label={label}
                placeholder={example}
                value={values[name] ?? ''}
                onChange={(value) => setValues({ ...values, [name]: value })}
                reason={reason}
              />
            ))}
          </div>
          {preset.notes.map((note) => (
            <p key={note} className="text-xs text-muted">
              {note}
            </p>
          ))}
          <div>
            <Button
              size="sm"
              reason={reason ?? (missing.length > 0 ? `Enter ${missing.join(' and ')} first.` : undefined)}
              onClick={() => onFill(issuerOf(preset, values))}
            >
              Fill in
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

/** Required claims, such as a subscription; with a token to test them. */
function RequiredClaims({
  claims,
  onChange,
}: {
  readonly claims: readonly RequiredClaim[];
  readonly onChange: (claims: RequiredClaim[]) => void;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  const [token, setToken] = useState('');
  const tried = token === '' ? undefined : claimsOf(token);
  const replace = (index: number, claim: RequiredClaim) =>
    onChange(claims.map((own, at) => (at === index ? claim : own)));
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 text-sm font-medium">Required claims</legend>
      {claims.length === 0 && <p className="text-sm text-muted">None: every user who signs in may call.</p>}
      {claims.map((claim, index) => (
        <ClaimRow
          key={String(index)}
          claim={claim}
          index={index}
          onChange={(next) => replace(index, next)}
          onRemove={() => onChange(claims.filter((_, at) => at !== index))}
          problem={problemAt(error, `${claimAt(index)}.path`) ?? problemExactlyAt(error, claimAt(index))}
          valueProblem={problemAt(error, `${claimAt(index)}.contains`, `${claimAt(index)}.equals`)}
          known={tried === undefined ? USUAL_CLAIMS : claimPathsOf(tried).map((value) => ({ value }))}
          isFulfilled={tried === undefined ? undefined : fulfils(tried, claim)}
        />
      ))}
      <div>
        <Button size="sm" reason={reason} onClick={() => onChange([...claims, { path: '', contains: '' }])}>
          <Plus size={13} /> Add a claim
        </Button>
      </div>
      <TextArea
        label="Test token"
        hint="It is read in this browser only, and its signature is not checked."
        rows={3}
        value={token}
        onChange={setToken}
        error={token !== '' && tried === undefined ? 'is not a JSON Web Token' : undefined}
      />
      {tried !== undefined && (
        <pre className="max-h-48 overflow-auto rounded-md border border-line bg-sunken p-3 text-xs">
          {JSON.stringify(tried, null, 2)}
        </pre>
      )}
    </fieldset>
  );
}

function ClaimRow({
  claim,
  index,
  onChange,
  onRemove,
  problem,
  valueProblem,
  known,
  isFulfilled,
}: {
  readonly claim: RequiredClaim;
  readonly index: number;
  readonly onChange: (claim: RequiredClaim) => void;
  readonly onRemove: () => void;
  readonly problem: string | undefined;
  readonly valueProblem: string | undefined;
  /** Claims to choose from. */
  readonly known: readonly Suggestion[];
  readonly isFulfilled: boolean | undefined;
}) {
  const reason = useReadOnlyReason();
  const isEquals = 'equals' in claim;
  const value = isEquals ? String(claim.equals) : textOfList(claim.contains);
  return (
    <div className="flex flex-wrap items-end gap-2">
      <SuggestField
        label={`Claim ${index + 1}`}
        known={known}
        placeholder="entitlements"
        value={textOfList(claim.path, '.')}
        onChange={(path) => onChange({ ...claim, path })}
        reason={reason}
        error={problem}
        className="flex-1"
      />
      <SelectField
        label={`Rule of claim ${index + 1}`}
        isLabelHidden
        value={isEquals ? 'equals' : 'contains'}
        options={[
          { value: 'contains', label: 'contains' },
          { value: 'equals', label: 'equals' },
        ]}
        onChange={(rule) =>
          onChange(rule === 'equals' ? { path: claim.path, equals: value } : { path: claim.path, contains: value })
        }
        reason={reason}
      />
      <TextField
        label={`Value of claim ${index + 1}`}
        isLabelHidden
        value={value}
        onChange={(text) => onChange(isEquals ? { ...claim, equals: text } : { ...claim, contains: listOfText(text) })}
        reason={reason}
        error={valueProblem}
        className="flex-1"
      />
      {isFulfilled !== undefined && (
        <Badge tone={isFulfilled ? 'good' : 'bad'}>{isFulfilled ? 'has it' : 'lacks it'}</Badge>
      )}
      <Button look="ghost" reason={reason} onClick={onRemove} aria-label={`Remove claim ${index + 1}`}>
        <Trash2 size={14} />
      </Button>
    </div>
  );
}
