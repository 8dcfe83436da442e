import { applyDecorators, Header } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { toDisplayName } from '../../common/fields/display-name.rules.js';
import { Access } from '../../common/http/access.js';
import { type Html, html } from './html.js';

/** Forms are short; the longest member is a provider's key. */
const MAX_FORM_BYTES = 65_536;

/**
 * Nothing but this origin's own style sheet and script. Redirects to a listener of a terminal leave by a link or a
 * refresh, because browsers apply `form-action` to redirects too.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** A page of the console's host, for anybody; it is not in the OpenAPI document. */
export function PageAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'public', consoleHost: true }),
    RouteConfig({ consoleHost: true }),
    PageHeaders(),
  );
}

/** A form of such a page: the exact origin of the console is required. */
export function PageFormAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'public', firstParty: true, exactOrigin: true, consoleHost: true }),
    RouteConfig({ firstParty: 'exactOrigin', consoleHost: true, maxBodyBytes: MAX_FORM_BYTES }),
    PageHeaders(),
  );
}

function PageHeaders(): MethodDecorator {
  return applyDecorators(
    ApiExcludeEndpoint(),
    Header('content-type', 'text/html; charset=utf-8'),
    Header('content-security-policy', CONTENT_SECURITY_POLICY),
  );
}

/** A page to send. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Where the browser goes next by itself, with a link in the body for browsers that do not. */
  readonly continueTo?: string;
}

/** Sends a page with a status other than 200. */
export function withStatus(reply: FastifyReply, status: number, page: Page): string {
  void reply.code(status);
  return render(page);
}

/**
 * The document of a page, in the frame that pages of the console have for people who are not signed in.
 *
 * Its referrer policy is stricter than none for other origins, and lets forms send the `Origin` that their route
 * demands: without any referrer browsers send `null`.
 */
export function render({ title, body, continueTo }: Page): string {
  const refresh = continueTo === undefined ? null : html`<meta http-equiv="refresh" content="1;url=${continueTo}">`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<meta name="robots" content="noindex">
${refresh}
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="/assets/pages.svg">
<link rel="stylesheet" href="/assets/pages.css">
<script src="/assets/pages.js" defer></script>
</head>
<body>
<header><img src="/assets/pages.svg" alt="" width="24" height="24"> Gateway</header>
<main>
${body}
</main>
<footer><a href="/docs">Documentation</a></footer>
</body>
</html>
`.text;
}

/** A message that screen readers announce. */
export function alert(message: string | undefined): Html | null {
  return message === undefined ? null : html`<p role="alert" class="alert">${message}</p>`;
}

/**
 * Text from others, such as the name that a client gives itself: isolated, so that neither their direction nor a
 * bidirectional control in them reaches the text around.
 *
 * Source: docs/reference/security.md#pages; Unicode Standard Annex 9, 2.7.
 */
export function othersWords(text: string): Html {
  return html`<bdi>${toDisplayName(text)}</bdi>`;
}

/** What is shown of an account or application: its name, which its members choose, and its id. */
export function namedWithId(name: string, id: string): Html {
  return html`${othersWords(name)} (${id})`;
}

/** A labelled input of a form. */
export function field(
  name: string,
  label: string,
  attributes: {
    readonly type?: string;
    readonly autocomplete: string;
    readonly minLength?: number;
    readonly maxLength: number;
  },
): Html {
  const { type = 'text', autocomplete, minLength = 1, maxLength } = attributes;
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" minlength="${minLength}" maxlength="${maxLength}" required>`;
}

/** The rows of a description, for people and screen readers alike. */
export function description(rows: readonly (readonly [name: string, value: string | Html | null])[]): Html {
  const shown = rows.filter(([, value]) => value !== null);
  return html`<dl>${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** A time for people, `2030-01-31 10:00 UTC`. */
export function timeOf(at: { toISOString(): string }): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
