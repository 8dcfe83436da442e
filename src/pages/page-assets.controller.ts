import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { PublicAccess } from '../common/http/access.js';

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

const STYLE_SHEET = `:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 34rem; margin: 0 auto; padding: 2rem 1rem; }
h1 { font-size: 1.4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
form { margin: 1rem 0; }
label { display: block; margin-top: 0.8rem; }
input, button { font: inherit; padding: 0.5rem 0.7rem; }
input:not([type=radio]):not([type=checkbox]) { width: 100%; box-sizing: border-box; }
button { margin-top: 1rem; cursor: pointer; }
fieldset { margin-top: 1rem; }
.code { font: 600 1.3rem ui-monospace, monospace; letter-spacing: 0.1em; }
.alert { border-left: 0.3rem solid #b3261e; padding: 0.5rem 0.8rem; }
.note { opacity: 0.8; }
:focus-visible { outline: 0.2rem solid #1a73e8; outline-offset: 0.1rem; }
`;

/** The style sheet and the script of every page. */
@Controller('assets')
@ApiExcludeController()
export class PageAssetsController {
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
    return STYLE_SHEET;
  }
}
