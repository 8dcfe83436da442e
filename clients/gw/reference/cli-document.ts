import { type Command, detailsOf } from '../program/command.js';
import { GROUPS } from '../program/commands.js';
import { GLOBAL_OPTIONS } from '../program/global-options.js';
import { NODE_FLOOR } from '../program/node-floor.rules.js';

const HEAD = `# gw, the command-line client

\`gw\` manages a gateway from a terminal, through its public API alone. This page is written from the program by
\`npm run docs\`, and every example of it is run by a test. It needs Node ${NODE_FLOOR} or newer.

## Getting it

In a clone, \`npm ci\` builds it: \`node dist/gw/gw.js\`. For other machines, \`npm run pack:gw\` writes into \`dist\`:

- \`gw-<version>.mjs\`: the whole client in one file. \`node gw-<version>.mjs --help\` runs it; it is executable, so it
  can be put into a folder of the \`PATH\` as \`gw\`. Keys are saved in files.
- \`gw-<version>.tgz\`: \`npm install --global ./gw-<version>.tgz\` installs the command \`gw\`, and, from the registry,
  the optional package that saves keys in the keychain of the operating system.
- \`SHA256SUMS\`: checksums of both. \`sha256sum --check SHA256SUMS\` verifies them beside the files.

Nothing is published in a registry: a package named \`gw\` there is not this program.

## Address and credentials

| Variable | Meaning |
|---|---|
| \`GW_URL\` | address of the gateway; else that of the profile |
| \`GW_MANAGEMENT_KEY\` | management key; takes precedence over a saved one. With \`GW_URL\` no login is needed |
| \`GW_PROFILE\` | saved gateway to use; else the current one: \`gw profile use\`, or the one that was connected last |
| \`GW_APP_KEY\` | key of an application, for \`gw app call\` |
| \`GW_PROVIDER_SECRET_<SLUG>\` | key of a provider that \`gw apply\` creates, unless its file says where the key is; the slug in capitals, other characters as \`_\` |
| \`VISUAL\`, \`EDITOR\` | editor of \`gw app edit\`, with its arguments; \`vi\` by default |
| \`GW_ALLOW_HTTP=1\` | keys may go unencrypted to a host that is not this machine |
| \`GW_NO_KEYCHAIN=1\` | keys are saved in files, not in the keychain of the operating system |
| \`XDG_STATE_HOME\` | folder of the state, \`gw\` in it; \`~/.local/state\` by default |
| \`HTTPS_PROXY\`, \`HTTP_PROXY\`, \`NO_PROXY\` | proxy to the gateway, and hosts that need none; lower case works too. Needs Node 24.14 or newer. Never used for this machine itself |
| \`NO_COLOR\` | no colours; nor are there any when standard output is not a terminal |

A saved key is sent only to the deployment it was saved for. It is in the keychain of the operating system where
there is one, else in a file that only its owner can read (0600, in a folder with 0700). Keys are never printed, except
by \`gw api\`, which prints responses unchanged.

## Output and exit codes

Results go to standard output, errors and hints to standard error. On a terminal, list columns are truncated to its
width; piped, and with \`--json\`, they are complete. Paged lists take \`--limit\` and \`--offset\` or \`--before-id\`,
and a hint names the next page. With \`--json\` one JSON document goes to standard output, errors included;
[gw.schema.json](schemas/gw.schema.json) has a schema for each command.

\`\`\`json
{"schemaVersion": 1, "ok": true, "context": {"url": "…", "accountId": "…"}, "result": {}}
{"schemaVersion": 1, "ok": false, "context": {"url": "…", "accountId": "…"}, "error": {"code": "…", "message": "…", "nextAction": "…", "details": {}}}
\`\`\`

| Exit code | Meaning |
|---|---|
| 0 | success; or a person must finish it in a browser (\`state\` is \`pending\`) |
| 1 | \`gw plan --check\`: there are differences |
| 2 | an argument or a file is invalid, also if the gateway says so |
| 3 | the gateway cannot be reached, answers with 5xx or 429, or with an invalid response |
| 4 | no valid login, not allowed, or a conflict with the stored state |
| 5 | \`gw operation wait\`: timeout |
| 130 | stopped with Ctrl-C; the message reports the state |
`;

/** `docs/cli.md`. */
export function cliDocument(commands: readonly Command[]): string {
  const groups = new Map<string, Command[]>();
  for (const command of commands) {
    const [group = ''] = command.name.split(' ');
    groups.set(group, [...(groups.get(group) ?? []), command]);
  }
  const sections = [...groups].map(([group, members]) => {
    const title =
      members.length === 1 && members[0]?.name === group ? undefined : `## gw ${group}\n\n${GROUPS[group] ?? group}.\n`;
    return [title, ...members.map((command) => sectionOf(command, title === undefined ? '##' : '###'))]
      .filter(Boolean)
      .join('\n');
  });
  return [HEAD, globals(), ...sections].join('\n');
}

const globals = () => `Options of every command, before or after its name:

${optionTable(GLOBAL_OPTIONS)}`;

function sectionOf(command: Command, level: string): string {
  const { name, summary, arguments: positional = [], options = [], examples } = command;
  const usage = ['gw', name, ...positional.map(([words]) => words), ...(options.length > 0 ? ['[options]'] : [])].join(
    ' ',
  );
  const described = [...positional, ...options];
  return [
    `${level} gw ${name}\n`,
    `${summary}. ${detailsOf(command)}`.trimEnd().concat('\n'),
    `\`${usage}\`\n`,
    ...(described.length > 0 ? [optionTable(described)] : []),
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\`\n`,
  ].join('\n');
}

function optionTable(described: Command['options'] & {}): string {
  const rows = described.map(([flags, meaning, choices]) => {
    const values = choices === undefined ? '' : `: ${choices.map((choice) => `\`${choice}\``).join(', ')}`;
    return `| \`${flags.replaceAll('|', '\\|')}\` | ${meaning}${values} |`;
  });
  return `| | |\n|---|---|\n${rows.join('\n')}\n`;
}
