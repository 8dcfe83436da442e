import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { GatewayError } from '../common/errors/gateway-error.js';
import { PublicAccess } from '../common/http/access.js';
import { ConsoleFiles } from './console-files.js';

/**
 * Takes the proof out of the address, keeps it for this tab until the operation ends, and sends it by the page's form.
 * A page without that form needs no script.
 */
const SCRIPT = `'use strict';
const key = 'proof of ' + location.pathname + location.search;
const form = document.querySelector('form[data-proof]');
if (document.querySelector('[data-ended]')) sessionStorage.removeItem(key);
if (form) {
  document.querySelector('[data-without-script]').hidden = true;
  if (location.hash.length > 1) {
    sessionStorage.setItem(key, location.hash.slice(1));
    history.replaceState(null, '', location.pathname + location.search);
  }
  const proof = sessionStorage.getItem(key);
  if (proof === null) document.querySelector('[data-without-proof]').hidden = false;
  else {
    form.elements.submissionToken.value = proof;
    form.submit();
  }
}
`;

/** Files of the font, by their names before the hash, and the characters that each has. */
const FONT_FILES = [
  { name: 'inter-latin-wght-normal', range: 'U+0000-00FF, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212' },
  { name: 'inter-latin-ext-wght-normal', range: 'U+0100-02BA, U+1E00-1E9F, U+20A0-20AB, U+20AD-20C0' },
] as const;

/** The design of the console (`clients/console/src/design/tokens.css`), as far as these pages need it. */
const STYLE_SHEET = `@font-face { font-family: 'Inter Fallback'; src: local('Arial'), local('Helvetica'), local('Liberation Sans'); size-adjust: 107.12%; ascent-override: 90.44%; descent-override: 22.52%; line-gap-override: 0%; }
:root {
  color-scheme: light dark;
  --canvas: light-dark(#f7f8fa, #0c0f14);
  --surface: light-dark(#ffffff, #12161d);
  --line: light-dark(#e3e6ec, #242b36);
  --edge: light-dark(#8b93a3, #667085);
  --ink: light-dark(#14181f, #e9ecf2);
  --muted: light-dark(#565f70, #9aa4b5);
  --accent: light-dark(#3a4bd8, #93a0ff);
  --on-accent: light-dark(#ffffff, #0c0f14);
  --bad: light-dark(#b42318, #ff9389);
  --bad-soft: light-dark(#fdecea, #34171a);
}
* { box-sizing: border-box; }
body { display: flex; flex-direction: column; min-height: 100vh; margin: 0; background: var(--canvas); color: var(--ink); font: 0.875rem/1.375rem 'Inter Variable', 'Inter Fallback', ui-sans-serif, system-ui, sans-serif; -webkit-font-smoothing: antialiased; }
body > header { display: flex; align-items: center; gap: 0.5rem; height: 3.5rem; padding: 0 1rem; font-weight: 600; }
body > footer { margin-top: auto; padding: 1rem; text-align: center; font-size: 0.8125rem; }
body > footer a { color: var(--muted); text-decoration: none; }
main { width: calc(100% - 2rem); max-width: 34rem; margin: 8vh auto 2rem; padding: 1.5rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 1px 3px #0001; overflow-wrap: anywhere; }
@media (max-width: 34rem) { main { margin-top: 1rem; padding: 1.25rem; } }
h1 { margin: 0 0 1rem; font-size: 1.25rem; font-weight: 600; line-height: 1.75rem; letter-spacing: -0.015em; }
h2 { margin: 1.5rem 0 0; font-size: 1rem; }
a { color: var(--accent); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.375rem 1rem; margin: 1rem 0; }
dt { color: var(--muted); }
dd { margin: 0; font-variant-numeric: tabular-nums; }
form { margin: 1rem 0; }
label { display: block; margin-top: 0.75rem; font-size: 0.8125rem; font-weight: 500; }
label:has([type=radio], [type=checkbox]) { position: relative; padding-left: 1.5rem; font-weight: 400; font-size: inherit; }
label > [type=radio], label > [type=checkbox] { position: absolute; top: 0.1875rem; left: 0; width: 1rem; height: 1rem; margin: 0; }
input { font: inherit; color: inherit; accent-color: var(--accent); }
input:not([type=radio]):not([type=checkbox]) { width: 100%; height: 2.25rem; margin-top: 0.25rem; padding: 0 0.625rem; background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; }
button { height: 2rem; margin-top: 1rem; padding: 0 0.75rem; font: inherit; font-size: 0.8125rem; font-weight: 500; color: var(--ink); background: var(--surface); border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
form label ~ button, form fieldset ~ button { color: var(--on-accent); background: var(--accent); border-color: transparent; }
fieldset { margin: 1rem 0 0; padding: 0.25rem 1rem 0.75rem; border: 1px solid var(--line); border-radius: 6px; }
legend { padding: 0 0.25rem; font-size: 0.8125rem; font-weight: 500; }
details { margin-top: 1rem; }
.code { font: 600 1.25rem ui-monospace, monospace; letter-spacing: 0.1em; }
.alert { padding: 0.5rem 0.75rem; color: var(--bad); background: var(--bad-soft); border-radius: 6px; }
.note { color: var(--muted); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/** What every page of `pages` loads. Font and icon are the console's; where it is not built, pages do without. */
@Controller('assets')
@ApiExcludeController()
export class PageAssetsController {
  constructor(private readonly files: ConsoleFiles) {}

  @Get('pages.js')
  @PublicAccess()
  @Header('content-type', 'text/javascript; charset=utf-8')
  script(): string {
    return SCRIPT;
  }

  @Get('pages.css')
  @PublicAccess()
  @Header('content-type', 'text/css; charset=utf-8')
  styleSheet(): string {
    const faces = FONT_FILES.map(({ name, range }) => fontFace(this.files.nameOf(name), range));
    return faces.join('') + STYLE_SHEET;
  }

  @Get('pages.svg')
  @PublicAccess()
  @Header('content-type', 'image/svg+xml')
  icon(): Buffer {
    const file = this.files.asset(this.files.nameOf('icon') ?? '');
    if (file === undefined) throw new GatewayError('not_found', { reason: 'console_not_built' });
    return file.body;
  }
}

function fontFace(file: string | undefined, range: string): string {
  if (file === undefined) return '';
  return `@font-face { font-family: 'Inter Variable'; font-weight: 100 900; font-display: swap; src: url(/assets/${file}) format('woff2'); unicode-range: ${range}; }
`;
}
