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
    retryForMs: 5_000,
    shutdownGraceMs: 7_000,
    health: { port: 8_081, host: '0.0.0.0' },
    webhooks: { endpoints: [ENDPOINT], allowPrivate: ['10.1.0.0/16'] },
    tuning: { maxCachedWorkflows: 77 },
  });
});
