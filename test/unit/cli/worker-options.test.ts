/** Settings reach the process that they are of. */
import { expect, it } from 'vitest';
import { readConfig } from '../../../src/cli/process/config.js';
import { workerOptions } from '../../../src/cli/serve/worker-command.js';

const ENDPOINT = {
  name: 'crm',
  url: 'https://crm.example/hook',
  secret: `whsec_${'A'.repeat(43)}=`,
};

it('roles that an empty variable names are none', () => {
  expect(readConfig({ COLLOQUY_DEV_ROLES: '' }).devRoles).toEqual([]);
  expect(readConfig({ COLLOQUY_DEV_ROLES: 'lead, clerk,' }).devRoles).toEqual(['lead', 'clerk']);
});

it.each([
  [{}, ['http://127.0.0.1:8080']],
  [{ COLLOQUY_PORT: '9000', COLLOQUY_HOST: '0.0.0.0' }, ['http://0.0.0.0:9000']],
  [{ COLLOQUY_HOST: '::1' }, ['http://[::1]:8080']],
  [{ COLLOQUY_PORT: '0' }, []],
])('with %j a worker keeps HTTP tools from the API that has the same variables', (set, apiUrls) => {
  expect(workerOptions(readConfig(set), { retry: 0, drain: 0 })).toMatchObject({ apiUrls });
});

it('an address of the API that is none is refused by its variable', () => {
  expect(() => readConfig({ COLLOQUY_API_URLS: 'http://a.example,10.0.0.1:8080' })).toThrow(
    'COLLOQUY_API_URLS: must be addresses such as http://127.0.0.1:8080, separated by commas, got "http://a.example,10.0.0.1:8080"',
  );
});

it('a worker gets what its variables and flags say', () => {
  const config = readConfig({
    COLLOQUY_DATABASE_URL: 'postgres://db.example/log',
    COLLOQUY_BLOBS: 'off',
    COLLOQUY_RETENTION: '30 days',
    COLLOQUY_TASK_QUEUE: 'other',
    COLLOQUY_SEARCH_ATTRIBUTES: 'off',
    COLLOQUY_COMPRESSION: 'off',
    COLLOQUY_AUDIT: 'records',
    COLLOQUY_SDK_GUARDS: 'on',
    COLLOQUY_API_URLS: 'https://agents.example, http://10.0.0.1:8080',
    COLLOQUY_CACHED_RUNS: '77',
    COLLOQUY_HEALTH_PORT: '8081',
    COLLOQUY_HEALTH_HOST: '0.0.0.0',
    COLLOQUY_WEBHOOKS: JSON.stringify([ENDPOINT]),
    COLLOQUY_WEBHOOKS_PRIVATE: '10.1.0.0/16',
  });
  expect(workerOptions(config, { retry: 5, drain: 7 })).toEqual({
    eventLog: 'postgres://db.example/log',
    blobs: 'off',
    retention: { closedAfter: '30 days' },
    taskQueue: 'other',
    searchAttributes: false,
    compression: false,
    audit: 'records',
    sdkGuards: true,
    apiUrls: ['https://agents.example', 'http://10.0.0.1:8080'],
    retryForMs: 5_000,
    shutdownGraceMs: 7_000,
    health: { port: 8_081, host: '0.0.0.0' },
    webhooks: { endpoints: [ENDPOINT], allowPrivate: ['10.1.0.0/16'] },
    tuning: { maxCachedWorkflows: 77 },
  });
});
