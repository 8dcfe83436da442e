import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';

const DEMO = fileURLToPath(new URL('../../../examples/demo/demo.ts', import.meta.url));
const TEST_MS = 90_000;
const MONTH_MS = 31 * 86_400_000;

/** Where the demo puts everything it writes, so that leftovers show. */
let temporary: string;
let child: ChildProcess;
let output: string;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'gw-demo-test-'));
  if (process.getuid?.() === 0) chmodSync(temporary, 0o711);
});

afterEach(async () => {
  if (child.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
  rmSync(temporary, { recursive: true, force: true });
});

function startDemo(...options: readonly string[]): void {
  output = '';
  child = spawn(process.execPath, [DEMO, ...options], {
    env: { ...process.env, TMPDIR: temporary, DATABASE_URL: 'postgres://not-for-the-demo.invalid/', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
}

/** The first match of the groups of the pattern. */
function printed(pattern: RegExp, text = output): string[] {
  const match = pattern.exec(text);
  if (match === null) throw new Error(`${pattern} is not in:\n${text}`);
  return match.slice(1);
}

describe('demo', () => {
  it(
    '--once → shows stream, timing, event, cost, a fallback, a refusal and limits, and leaves nothing behind',
    async () => {
      startDemo('--once');
      expect([await once(child, 'close'), output]).toEqual([[0, null], expect.any(String)]);
      const [proxied = '', throughEndpoint = ''] = output.split('\n5. ');
      expect(proxied).toMatch(/Route +openai\/v1\/chat\/completions\n/);
      expect(throughEndpoint).toMatch(
        /Attempt +openai\/gpt-4\.1-mini: 503 after \d+ ms\n +Attempt +xai\/[\w.-]+: 200 /,
      );
      expect(throughEndpoint).toMatch(/Route +xai\/v1\/responses\n/);
      expect(throughEndpoint).toMatch(/"endpoint_fallback",.*"provider":"openai","next":"xai","reason":"status_503"/);
      for (const part of [proxied, throughEndpoint]) {
        expect(part).toContain('what it will cost at most');
        expect(part).toMatch(/Server-Timing +auth;dur=\d+\.\d, limiter;dur=\d+\.\d, provider_ttfb;dur=\d+\.\d\n/);
        const [tokensIn, rateIn] = printed(/Input tokens +(\d+) at \$([\d.]+)/, part);
        const [tokensOut, rateOut] = printed(/Output tokens +(\d+) at \$([\d.]+)/, part);
        const cost = (Number(tokensIn) * Number(rateIn) + Number(tokensOut) * Number(rateOut)) / 1e6;
        expect(Number(printed(/Cost +\$([\d.]+) \(computed\)/, part)[0])).toBeCloseTo(cost, 12);
      }
      expect(output).toMatch(/The client sees +model_not_allowed: 403 /);
      expect(output).toMatch(/The log says .*"message":"gateway_error".*"code":"model_not_allowed"/);
      expect(output).toMatch(/The provider +has not seen it\n/);
      expect(output).toMatch(/As ada +answered\n +As ada +app_budget_exhausted, Retry-After \d+: 429 .*this user/);
      expect(output).toMatch(
        /As bob +answered\n +As cyd +app_rate_limited, Retry-After \d+: 429 .*2 requests per UTC day/,
      );
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'Ctrl-C after the job → the service answers until then, and everything is stopped and removed',
    async () => {
      startDemo();
      await eventually(() => output.includes('Ctrl-C stops everything') || child.exitCode !== null, {
        withinMs: TEST_MS,
      });
      const [url = ''] = printed(/API +(http:\S+)/);
      const lastMonth = new Date(Date.now() - MONTH_MS).toISOString().slice(0, 7);
      const apps = await fetch(`${url}/v1/admin/apps?month=${lastMonth}`, {
        headers: { authorization: `Bearer ${printed(/Management key +(gw_mgmt_\w+)/)[0]}` },
      });
      expect(apps.status).toBe(200);
      const { apps: filled }: { apps: readonly { name: string; usage: { requests: number; cost_usd: number } }[] } =
        JSON.parse(await apps.text());
      expect(filled).toHaveLength(8);
      expect(filled.filter(({ usage }) => usage.requests > 0)).toHaveLength(6);
      expect(filled.find(({ name }) => name === 'Journal for iOS')?.usage.cost_usd).toBeGreaterThan(1);
      const owner = await fetch(`${url}/v1/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: printed(/E-mail +(\S+)/)[0], password: printed(/Password +(.+)\n/)[0] }),
      });
      expect(owner.status).toBe(200);
      const calls = [...output.matchAll(/curl -N (\S+).*?'Authorization: (.+?)'.*?-d '(.+?)'/gs)];
      const ends: string[] = [];
      for (const [, address = '', authorization = '', body = ''] of calls) {
        const headers = { authorization, 'content-type': 'application/json' };
        const answer = await fetch(address, { method: 'POST', headers, body });
        const end = /\[DONE\]|response\.completed/.exec(await answer.text());
        ends.push(`${answer.status} ${new URL(address).pathname.split('/').at(-1)} ${end?.[0]}`);
      }
      expect(ends).toEqual(['200 completions [DONE]', '200 explain response.completed']);

      child.kill('SIGINT');
      expect([await once(child, 'close'), output]).toEqual([[0, null], expect.any(String)]);
      await expect(fetch(url)).rejects.toThrow();
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'Ctrl-C while usage is generated → ends at once, nothing left',
    async () => {
      startDemo();
      await eventually(() => output.includes('8. Fill the console'), { withinMs: TEST_MS });
      child.kill('SIGINT');
      expect([await once(child, 'close'), output]).toEqual([[0, null], expect.any(String)]);
      expect(output).not.toContain('Your turn');
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'Ctrl-C while it is starting → ends at once, nothing left',
    async () => {
      startDemo();
      await eventually(() => output.includes('Data directory'), { withinMs: TEST_MS });
      child.kill('SIGINT');
      expect([await once(child, 'close'), output]).toEqual([[0, null], expect.any(String)]);
      expect(output).not.toContain('Your turn');
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );
});

describe('a reader that closes its pipe', () => {
  it.each([[], ['--phone']])(
    'a pipe that is closed midway, %p → ends, nothing left',
    async (...options) => {
      startDemo(...options);
      await eventually(() => output.includes('Service') || output.includes('Data directory'), { withinMs: TEST_MS });
      child.stdout?.destroy();
      await once(child, 'exit');
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );
});

describe('phone', () => {
  it(
    '--phone --once → each call of a phone and a backend with its answer, a block and the reason of a refusal',
    async () => {
      startDemo('--phone', '--once');
      expect([await once(child, 'close'), output]).toEqual([[0, null], expect.any(String)]);
      expect(output.match(/POST \/v1\/apps\/[\w-]+\/auth\/register\n/g)).toHaveLength(3);
      expect(output.match(/"access_token": /g)).toHaveLength(4);
      expect(output).toMatch(/"requests_today": null/);
      expect(output.match(/"message": "This user is blocked\."/g)).toHaveLength(2);
      expect(output).toMatch(/"outcome": "issuer_token_rejected",\n +"reason": "audience_mismatch"/);
      expect(output).not.toMatch(/eyJ[\w-]{30}/);
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );
});
