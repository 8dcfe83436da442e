import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { renderConfiguration, renderEnvironmentExample } from '../../src/commands/documentation/configuration.rules.js';
import { documentedVariables } from '../../src/commands/documentation/documents.js';
import { loadEnvironment } from '../../src/platform/config/environment.js';
import { declaredSettings } from '../../src/platform/config/setting.js';
import { isVaultMisconfiguration, readVaultSettings } from '../../src/platform/vault/vault-settings.rules.js';
import { VAULT_VARIABLES } from '../../src/platform/vault/vault-variables.js';

const TABLE = read('docs/configuration.md');
const EXAMPLE = read('.env.example');

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

function declaredNames(): string[] {
  return [...declaredSettings(), ...VAULT_VARIABLES].map(({ name }) => name);
}

describe('documented configuration', () => {
  it('docs/configuration.md and .env.example → as `npm run docs` writes them', () => {
    expect(TABLE).toBe(renderConfiguration(documentedVariables()));
    expect(EXAMPLE).toBe(renderEnvironmentExample(documentedVariables()));
  });

  it('read back → exactly the variables that the code reads', () => {
    const inTable = [...TABLE.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|/gm)].map(([, name]) => name);
    const inExample = [...EXAMPLE.matchAll(/^# ([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
    expect(inTable).toEqual(declaredNames());
    expect(inExample).toEqual(declaredNames());
  });

  it('.env.example with every line enabled → the same settings as none', () => {
    const lines = [...EXAMPLE.matchAll(/^# ([A-Z][A-Z0-9_]+)=(.*)$/gm)];
    const environment = Object.fromEntries(lines.map(([, name, value]) => [name, value]));
    expect(loadEnvironment(environment)).toEqual(loadEnvironment({}));
  });

  it('vault variables → each is one that the vault reads', () => {
    for (const { name } of VAULT_VARIABLES) {
      const modes = name === 'SECRET_VAULT_MODE' ? ['nonsense'] : ['local', 'kms'];
      const named = modes.map((mode) => {
        const settings = readVaultSettings({ [name]: 'nonsense', SECRET_VAULT_MODE: mode });
        return isVaultMisconfiguration(settings) ? settings.variable : undefined;
      });
      expect(named).toContain(name);
    }
  });
});
