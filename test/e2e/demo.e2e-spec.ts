import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';

const DEMO = fileURLToPath(new URL('../demo/demo.ts', import.meta.url));
const TEST_MS = 90_000;

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

function printed(pattern: RegExp): string {
  const [, value] = pattern.exec(output) ?? [];
  if (value === undefined) throw new Error(`${pattern} is not in:\n${output}`);
  return value;
}

describe('demo (decision 1.3)', () => {
  it(
    '--once → shows stream, timing, event, cost and a refusal, and leaves nothing behind',
    async () => {
      startDemo('--once');
      expect([await once(child, 'close'), output]).toEqual([[0, null], expect.any(String)]);
      expect(output).toContain('what it will cost at most');
      expect(output).toMatch(/Server-Timing +auth;dur=\d+\.\d, limiter;dur=\d+\.\d, provider_ttfb;dur=\d+\.\d\n/);
      expect(output).toMatch(/Route +openai\/v1\/chat\/completions\n/);
      const [tokensIn, rateIn] = [printed(/Input tokens +(\d+)/), printed(/Input tokens .*\$([\d.]+)/)];
      const [tokensOut, rateOut] = [printed(/Output tokens +(\d+)/), printed(/Output tokens .*\$([\d.]+)/)];
      const cost = (Number(tokensIn) * Number(rateIn) + Number(tokensOut) * Number(rateOut)) / 1e6;
      expect(Number(printed(/Cost +\$([\d.]+) \(computed\)/))).toBeCloseTo(cost, 12);
      expect(output).toMatch(/The client sees +model_not_allowed: 403 /);
      expect(output).toMatch(/The log says .*"message":"gateway_error".*"code":"model_not_allowed"/);
      expect(output).toContain('has seen 1 request in all');
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'Ctrl-C after the job → the service answered until then, and everything is stopped and removed',
    async () => {
      startDemo();
      await eventually(() => output.includes('Ctrl-C stops everything') || child.exitCode !== null, {
        withinMs: TEST_MS,
      });
      const url = printed(/API +(http:\S+)/);
      const apps = await fetch(`${url}/v1/admin/apps`, {
        headers: { authorization: `Bearer ${printed(/Management key +(gw_mgmt_\w+)/)}` },
      });
      expect(apps.status).toBe(200);
      const answer = await fetch(printed(/curl -N (\S+)/), {
        method: 'POST',
        headers: { authorization: printed(/'Authorization: (.+)'/), 'content-type': 'application/json' },
        body: printed(/-d '(.+)'/),
      });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('data: [DONE]')]);

      child.kill('SIGINT');
      expect([await once(child, 'close'), output]).toEqual([[0, null], expect.any(String)]);
      await expect(fetch(url)).rejects.toThrow();
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

describe('a reader that leaves', () => {
  it.each([[], ['--phone']])(
    'a pipe that is closed half-way, %p → ends, nothing left',
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
      expect(output.match(/POST \/v1\/apps\/[\w-]+\/auth\/register\n/g)).toHaveLength(2);
      expect(output.match(/"access_token": /g)).toHaveLength(3);
      expect(output).toMatch(/"requests_today": null/);
      expect(output.match(/"message": "This user is blocked\."/g)).toHaveLength(2);
      expect(output).toMatch(/"outcome": "issuer_token_rejected",\n +"reason": "audience_mismatch"/);
      expect(output).not.toMatch(/eyJ[\w-]{30}/);
      expect(readdirSync(temporary)).toEqual([]);
    },
    TEST_MS,
  );
});
