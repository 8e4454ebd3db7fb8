/** API keys by command, and an API that takes them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { promise } from '../../support/promise.js';
import { startDevServer } from '../../support/servers/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';
import { call } from '../support/api.js';
import { colloquy, failure } from '../support/processes.js';

async function dataFolder(): Promise<{ readonly COLLOQUY_DATA: string }> {
  const folder = temporaryFolder();
  await (await openSqliteEventLog({ file: join(folder, 'log.db') })).close();
  return { COLLOQUY_DATA: folder };
}

it('keys are made, listed, rotated and revoked by command, and each is printed once', async () => {
  const env = await dataFolder();
  const keys = async (...args: readonly string[]): Promise<string> => {
    const command = colloquy(['keys', ...args], env);
    expect(await command.ended, command.stderr()).toBe(0);
    return command.stdout();
  };
  expect(await keys('list')).toBe('No key.\n');
  const made = await keys('create', '--name', 'billing', '--right', 'read,send', '--role', 'clerk');
  const [, key = '', id = ''] = /^key {7}(clq_([0-9a-f]{16})_[\w-]{43})$/m.exec(made) ?? [];
  expect(await keys('list')).toMatch(
    new RegExp(`^${id} +billing +default +clerk +read,send +valid +\\S+Z$`, 'm'),
  );
  const rotated = JSON.parse(await keys('rotate', id, '--grace', '1 hour', '--json')) as object;
  expect(rotated).toMatchObject({ id, key: expect.stringContaining(`clq_${id}_`) as string });
  expect(await keys('revoke', id)).toContain(`revoked ${id}`);
  const listed = await keys('list', '--json');
  expect(JSON.parse(listed)).toMatchObject({ keys: [{ id, name: 'billing' }] });
  expect(listed).not.toMatch(/hash|clq_/);
  expect(await keys('list')).toContain(key.slice(4, 20));
});

it('the first key may be made before there is an event log, which is then made, and named', async () => {
  const env = { COLLOQUY_DATA: join(temporaryFolder(), 'data') };
  expect(await failure(colloquy(['keys', 'list'], env))).toContain('No event log at');
  const made = colloquy(['keys', 'create', '--name', 'job', '--right', 'read', '--json'], env);
  expect(await made.ended, made.stderr()).toBe(0);
  expect(JSON.parse(made.stdout())).toMatchObject({ name: 'job' });
  expect(made.stderr()).toBe(
    `colloquy: made a new event log, ${join(env.COLLOQUY_DATA, 'log.db')}\n`,
  );
  const listed = colloquy(['keys', 'list'], env);
  expect(await listed.ended, listed.stderr()).toBe(0);
  expect(listed.stdout()).toContain('job');
});

it.each([
  [['create', '--name', 'x', '--right', 'read,everything'], '--right must be some of read'],
  [
    ['create', '--name', 'x', '--right', 'read', '--expires', 'soon'],
    '--expires must be a duration',
  ],
  [['create', '--name', '', '--right', 'read'], 'name'],
  [['rotate', 'nowhere'], 'No key "nowhere"'],
  [['revoke', 'nowhere'], 'No key "nowhere"'],
])('colloquy keys %j is refused, naming what is wrong', async (args, reason) => {
  expect(await failure(colloquy(['keys', ...args], await dataFolder()))).toContain(reason);
});

it('an API with keys takes them and no development secret, and says when there are none', async () => {
  const server = await startDevServer();
  onTestFinished(() => server.stop());
  const env = {
    ...(await dataFolder()),
    COLLOQUY_IDENTITY: 'keys',
    TEMPORAL_ADDRESS: server.address,
  };
  const api = colloquy(['serve', '--port', '0'], env);
  const said = await api.prints(/^keys {4}none yet/m);
  const url = /http:\/\/\S+/.exec(said)?.[0] ?? '';
  expect((await call(`${url}/v1/session`)).status).toBe(401);
  const create = ['keys', 'create', '--name', 'job', '--right', 'read', '--json'];
  const made = colloquy(create, env);
  expect(await made.ended, made.stderr()).toBe(0);
  const { key } = JSON.parse(made.stdout()) as { key: string };
  const headers = { authorization: `Bearer ${key}` };
  expect(await call(`${url}/v1/session`, { headers })).toMatchObject({
    status: 200,
    body: { actor: { id: 'job' }, verified: true, rights: ['read'] },
  });
  expect(`${api.stdout()}${api.stderr()}`).not.toContain(key);
});

it('an API asks the module of its settings for the owner of a file', promise('G424'), async () => {
  const server = await startDevServer();
  onTestFinished(() => server.stop());
  const module = join(temporaryFolder(), 'owners.mjs');
  await writeFile(
    module,
    'export const providerFiles = { owns: ({ fileId, tenant }) => fileId === `of-${tenant}` };',
  );
  const base = { ...(await dataFolder()), COLLOQUY_IDENTITY: 'keys' };
  const env = { ...base, TEMPORAL_ADDRESS: server.address };
  const made = colloquy(['keys', 'create', '--name', 'job', '--right', 'send', '--json'], env);
  expect(await made.ended, made.stderr()).toBe(0);
  const { key } = JSON.parse(made.stdout()) as { key: string };
  const api = colloquy(['serve', '--port', '0', '--provider-files', module], env);
  const url = /http:\/\/\S+/.exec(await api.prints(/^api .*$/m))?.[0] ?? '';
  const sent = async (fileId: string) =>
    await call(`${url}/v1/conversations/c-1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        text: 'Read it.',
        attachments: [{ type: 'file', source: { fileId } }],
      }),
    });
  const path = '/attachments/0/source/fileId';
  expect(await sent('of-beta')).toMatchObject({ status: 422, body: { errors: [{ path }] } });
  // The file is let through; there is no conversation for it.
  expect((await sent('of-default')).body).toMatchObject({ code: 'unknown_conversation' });
});

it('settings of an issuer that are incomplete are refused at once', async () => {
  const env = { ...(await dataFolder()), COLLOQUY_IDENTITY: 'jwt' };
  const said = await failure(colloquy(['serve', '--port', '0'], env));
  expect(said).toContain('COLLOQUY_JWT_JWKS');
  const secret = { ...(await dataFolder()), COLLOQUY_TOKEN_SECRETS: 'a-short-secret' };
  const refused = await failure(colloquy(['serve', '--port', '0'], secret));
  expect(refused).toContain('COLLOQUY_TOKEN_SECRETS: each of them');
  expect(refused).not.toContain('a-short-secret');
});
