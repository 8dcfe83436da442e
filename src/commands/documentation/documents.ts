import '../../platform/config/environment.js';
import type { INestApplication } from '@nestjs/common';
import { ERRORS } from '../../common/errors/error-catalogue.js';
import { REASONS } from '../../common/errors/reasons.js';
import { MetricsPage } from '../../health/metrics/metrics-page.service.js';
import { OpenApiDocument } from '../../health/openapi.controller.js';
import { declaredSettings } from '../../platform/config/setting.js';
import { VAULT_VARIABLES } from '../../platform/vault/vault-variables.js';
import { EVENT_TYPES } from '../../webhooks/event-types.js';
import {
  type DocumentedVariable,
  renderConfiguration,
  renderEnvironmentExample,
  toDocumentedSetting,
  toDocumentedVaultVariable,
} from './configuration.rules.js';
import { LOG_LINES } from './log-event-texts.js';
import {
  renderErrors,
  renderEventTypes,
  renderIdentityProviders,
  renderLogEvents,
  renderMetrics,
  renderReasons,
} from './pages.rules.js';

/** Every variable of the service, in the order of the documentation. */
export function documentedVariables(): readonly DocumentedVariable[] {
  return [...declaredSettings().map(toDocumentedSetting), ...VAULT_VARIABLES.map(toDocumentedVaultVariable)];
}

/** Every generated document: its path from the repository root, and its text. */
export function renderDocuments(app: INestApplication): ReadonlyMap<string, string> {
  const variables = documentedVariables();
  const api: unknown = JSON.parse(app.get(OpenApiDocument).json);
  return new Map([
    ['docs/openapi.json', `${JSON.stringify(api, null, 2)}\n`],
    ['docs/configuration.md', renderConfiguration(variables)],
    ['docs/errors.md', renderErrors(ERRORS)],
    ['docs/event-types.md', renderEventTypes(EVENT_TYPES)],
    ['docs/reasons.md', renderReasons(REASONS)],
    ['docs/log-events.md', renderLogEvents(LOG_LINES)],
    ['docs/metrics.md', renderMetrics(app.get(MetricsPage).metrics)],
    ['docs/identity-providers.md', renderIdentityProviders()],
    ['.env.example', renderEnvironmentExample(variables)],
  ]);
}
