import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { Gw, type GwRun } from '../../support/gw/gw.js';
import { startWorld, type World } from '../../support/world.js';

const CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
const ENTER = '\r';
let world: World;
let gw: Gw;
let api: ApiClient;
let app: string;

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  const { key } = await newAccount(world.dataSource);
  api = world.as(key);
  gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key, PATH: '/usr/bin:/bin' });
  app = (await api.post('/v1/admin/apps', { name: 'Notes', handle: 'notes', config: CONFIG })).body.app.id;
});
afterEach(() => gw.remove());
afterAll(() => world.stop());

const errorOf = ({ exitCode, json: document }: GwRun) => [exitCode, document?.error?.code];
const stored = async () => (await api.get(`/v1/admin/apps/${app}`)).body.app;

/** An editor that runs a script on the file, and records its input. @returns its command, with an argument. */
function editor(script: string): string {
  const path = join(gw.home, 'editor');
  writeFileSync(
    path,
    `#!/bin/sh\nfile="$2"\necho "$file" > '${gw.home}/edited'\ncp "$file" '${gw.home}/given'\n${script}\n`,
  );
  chmodSync(path, 0o755);
  return `'${path}' --wait`;
}
/** Its own TMPDIR, so that files left there are detected. */
const edit = (script: string, words = '--yes') =>
  gw.run(`app edit notes ${words} --json`, '', { EDITOR: editor(script), TMPDIR: gw.home });
const leftFiles = () => readdirSync(gw.home).filter((name) => name.startsWith('gw-edit-'));

describe('gw app edit', () => {
  it('a change → validated and applied to the revision that was shown', async () => {
    const run = await edit(`sed -i 's/^name: Notes/name: Journal/' "$file"`);
    expect(run.json.result.app).toMatchObject({ name: 'Journal', handle: 'notes', revision: 2, status: 'active' });
    const given = readFileSync(join(gw.home, 'given'), 'utf8');
    expect(given).toMatch(/revision 1[\s\S]*^name: Notes$[\s\S]*^handle: notes$[\s\S]*^config:$/m);
    expect(leftFiles()).toEqual([]);
  });

  it.each([
    ['left as it is', 'true'],
    ['with another comment', 'echo "# looked at" >> "$file"'],
  ])('%s → nothing is changed', async (_name, script) => {
    const run = await edit(script);
    expect([run.exitCode, run.json.result.app.revision, (await stored()).revision]).toEqual([0, 1, 1]);
    expect(leftFiles()).toEqual([]);
  });

  it.each([
    ['fails', 'exit 3'],
    ['is killed', 'kill -9 $$'],
  ])('an editor that %s → exit 2, nothing is changed, and no file is left', async (_name, script) => {
    expect(errorOf(await edit(script))).toEqual([2, 'editor_failed']);
    expect([(await stored()).revision, leftFiles()]).toEqual([1, []]);
  });

  it('an editor that fails after it has saved → the text is kept', async () => {
    const run = await edit(`sed -i 's/Notes/Journal/' "$file"; exit 1`);
    expect(errorOf(run)).toEqual([2, 'editor_failed']);
    expect(readFileSync(run.json.error.details.file, 'utf8')).toContain('name: Journal');
    expect((await stored()).revision).toBe(1);
  });

  it('a missing editor → exit 2', async () => {
    const run = await gw.run('app edit notes --yes --json', '', { EDITOR: '/no/such/editor', TMPDIR: gw.home });
    expect([...errorOf(run), leftFiles()]).toEqual([2, 'editor_failed', []]);
  });

  it.each([
    ['no YAML', `echo '{ [' > "$file"`, 'invalid_file'],
    ['empty', `: > "$file"`, 'invalid_file'],
    ['with an unknown member', `echo 'extra: 1' >> "$file"`, 'invalid_file'],
    ['refused by the service', `sed -i 's/mode: all/mode: nothing/' "$file"`, 'invalid_request'],
  ])('a text that is %s → exit 2, and it is kept in the file that the message names', async (_name, script, code) => {
    const run = await edit(script);
    expect(errorOf(run)).toEqual([2, code]);
    const { file } = run.json.error.details;
    expect(existsSync(file)).toBe(true);
    expect(run.json.error.message).toContain(file);
    expect(run.json.error.nextAction).toContain(`gw app update notes --file ${file}`);
    expect((await stored()).revision).toBe(1);
  });

  it('changed by somebody else meanwhile → exit 4, both texts are kept', async () => {
    const body = JSON.stringify({ name: 'Theirs', config: CONFIG, revision: 1 });
    const put = `curl -sS -X PUT '${world.baseUrl}/v1/admin/apps/${app}' -H "authorization: Bearer $GW_MANAGEMENT_KEY" \\
      -H 'content-type: application/json' -d '${body}' > /dev/null`;
    const run = await edit(`${put}\nsed -i 's/Notes/Mine/' "$file"`);
    expect(errorOf(run)).toEqual([4, 'app_revision_conflict']);
    expect(readFileSync(run.json.error.details.file, 'utf8')).toContain('name: Mine');
    expect((await stored()).name).toBe('Theirs');
  });

  it('the file → readable only by its owner', async () => {
    await edit(`stat -c %a "$file" "$(dirname "$file")" > '${gw.home}/modes'`);
    expect(readFileSync(join(gw.home, 'modes'), 'utf8')).toBe('600\n700\n');
  });

  it('without a terminal and --yes → exit 2 before an editor starts', async () => {
    expect(errorOf(await edit('true', ''))).toEqual([2, 'confirmation_required']);
    expect(existsSync(join(gw.home, 'edited'))).toBe(false);
  });

  it.each([
    ['y', 0, 'Journal'],
    ['n', 130, 'Notes'],
  ])(
    'on a terminal → the difference and what it means, then a question; "%s" → exit %i',
    async (answer, code, name) => {
      const environment = {
        EDITOR: editor(`sed -i 's/^name: Notes/name: Journal/; s/^status: active/status: disabled/' "$file"`),
      };
      const session = gw.onTerminal('app edit notes', { ...environment, TMPDIR: gw.home });
      await session.shows('Make this change?');
      expect(session.screen).toContain('~ name: "Notes" -> "Journal"');
      expect(session.screen).toContain('Every caller loses access');
      session.type(answer);
      expect(await session.ended).toBe(code);
      expect((await stored()).name).toBe(name);
      expect(leftFiles().length).toBe(code === 0 ? 0 : 1);
    },
  );

  it('on a terminal, refused → edited again, starting from the first text', async () => {
    const script = `if [ -e '${gw.home}/again' ]; then sed -i 's/nothing/all/; s/Notes/Journal/' "$file"
      else touch '${gw.home}/again'; sed -i 's/mode: all/mode: nothing/' "$file"; fi`;
    const session = gw.onTerminal('app edit notes', { EDITOR: editor(script), TMPDIR: gw.home });
    await session.shows('Edit it again?');
    session.type('y');
    await session.shows('Make this change?');
    session.type('y');
    expect(await session.ended).toBe(0);
    expect((await stored()).name).toBe('Journal');
  });

  it('Ctrl-C in the editor → handled by the editor', async () => {
    const script = `trap : INT; echo ready; while ! [ -e '${gw.home}/go' ]; do sleep 0.1; done
      sed -i 's/^name: Notes/name: Journal/' "$file"`;
    const session = gw.onTerminal('app edit notes', { EDITOR: editor(script), TMPDIR: gw.home });
    await session.shows('ready');
    session.type('\u0003');
    writeFileSync(join(gw.home, 'go'), '');
    await session.shows('Make this change?');
    session.type(ENTER);
    expect(await session.ended).toBe(130);
    expect(session.screen).toContain('The text is kept in');
  });
});
