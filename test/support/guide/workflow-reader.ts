import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { parse } from 'yaml';
import type { GuideShell } from './guide-shell.js';

interface Step {
  readonly run?: string;
  readonly if?: string;
  readonly name?: string;
}

interface Job {
  readonly steps: readonly Step[];
  readonly needs?: string;
  readonly if?: string;
}

/** The address of the gateway, and a key for each environment of the matrix. */
interface Values {
  readonly GW_URL: string;
  readonly staging: string;
  readonly production: string;
}

/** A workflow of GitHub that a guide shows: its commands run as they are, without what only GitHub has. */
export class WorkflowReader {
  private readonly jobs: Readonly<Record<string, Job>>;

  constructor(
    private readonly shell: GuideShell,
    file: string,
  ) {
    this.jobs = parse(readFileSync(join(shell.directory, file), 'utf8')).jobs;
  }

  /**
   * Fails unless the steps of a pull request, of a push and of a schedule succeed, and comment and fail as the guide
   * says.
   */
  async expectRuns(values: Values): Promise<void> {
    expect(Object.keys(this.jobs)).toEqual(['validate', 'plan', 'comment', 'apply']);
    expect(this.commandsOf('validate')).toEqual([expect.stringContaining('gw validate infra')]);
    expect(await this.runs('validate', {})).toEqual(0);
    for (const environment of ['staging', 'production'] as const) {
      const variables = { GW_URL: values.GW_URL, GW_MANAGEMENT_KEY: values[environment], ENVIRONMENT: environment };
      const github = { GITHUB_STEP_SUMMARY: 'summary.md' };
      const [plan = '', drift = ''] = this.commandsOf('plan');
      expect(await this.run(`rm -rf plans\n${plan}`, { ...variables, ...github })).toBe(0);
      expect(this.read('summary.md')).toContain(`### gw plan: ${environment}`);
      expect(this.read(`plans/${environment}.json`)).not.toContain(values[environment]);
      const [comment = ''] = this.commandsOf('comment');
      expect(await this.run(`gh() { echo "$@" >> comments; }\n${comment}`, { PULL_REQUEST: 'the-pull-request' })).toBe(
        0,
      );
      expect(this.read('comments')).toContain(`pr comment the-pull-request --body-file plans/${environment}.md`);
      expect(await this.run(drift, variables)).toBe(environment === 'staging' ? 1 : 0);
      expect(await this.runs('apply', variables)).toBe(0);
      expect(await this.run(drift, variables)).toBe(0);
    }
  }

  /** Commands of a job but the installation, in their order. */
  private commandsOf(job: string): readonly string[] {
    const commands = (this.jobs[job]?.steps ?? []).flatMap(({ run }) => run ?? []);
    return commands.filter((command) => !command.startsWith('npm install'));
  }

  private runs(job: string, variables: Readonly<Record<string, string>>): Promise<number | null> {
    return this.run(this.commandsOf(job).join('\n'), variables);
  }

  private async run(text: string, variables: Readonly<Record<string, string>>): Promise<number | null> {
    const exports = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
    const { exitCode, output } = await this.shell.run(`(\n${exports.join('\n')}\n${text}\n)`);
    if (exitCode !== 0 && exitCode !== 1) throw new Error(output);
    return exitCode;
  }

  private read(file: string): string {
    return readFileSync(join(this.shell.directory, file), 'utf8');
  }
}
