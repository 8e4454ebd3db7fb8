import { describe, expect, it } from 'vitest';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { startHttpApp } from '../../support/servers/http-app.js';

describe('the API', () => {
  it('is ready when Temporal and the store answer, and names the one that does not', {
    ...promise('G244'),
  }, async () => {
    const ready = await startHttpApp();
    expect(await (await ready.request('/readyz')).json()).toEqual({
      status: 'ready',
      checks: { temporal: 'ok', store: 'ok', same_store: 'ok' },
    });
    const broken = await startHttpApp(
      {},
      {
        conversations: {
          list: () => Promise.resolve({ conversations: [] }),
          checkWritable: () => Promise.reject(new Error('disk full')),
        },
      },
    );
    const response = await broken.request('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: 'not_ready',
      checks: { temporal: 'ok', store: 'disk full', same_store: 'ok' },
    });
  });

  it('shares the checks that are under way with all who ask, and goes on after one that throws', async () => {
    let writes = 0;
    const conversations = {
      list: () => Promise.resolve({ conversations: [] }),
      checkWritable: async () => {
        writes += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      },
    };
    const health = {
      queue: () => {
        throw new Error('no queue');
      },
    };
    const { request } = await startHttpApp({}, { conversations, health });
    const asked = await Promise.all(Array.from({ length: 10 }, () => request('/readyz')));
    expect(writes).toBeLessThan(10);
    expect(await asked[0]?.json()).toMatchObject({ checks: { queue: 'no queue', store: 'ok' } });
    const before = writes;
    await request('/readyz');
    expect(writes).toBe(before + 1);
  });

  it('keeps the reason for its log where an identity is configured, and writes it once', async () => {
    const conversations = {
      list: () => Promise.resolve({ conversations: [] }),
      checkWritable: () => Promise.reject(new Error('no route to db.internal')),
    };
    const { request, logged } = await startHttpApp({}, { conversations, identify: () => TESTING });
    for (let probe = 0; probe < 3; probe += 1) {
      const response = await request('/readyz');
      expect(response.status).toBe(503);
      expect(await response.json()).toEqual({
        status: 'not_ready',
        checks: { temporal: 'ok', store: 'failed', same_store: 'ok' },
      });
    }
    const lines = logged.filter((line) => 'checks' in line);
    expect(lines).toMatchObject([{ checks: { store: 'no route to db.internal' } }]);
  });

  it('is not ready while workers keep another event log, and names them', {
    ...promise('G242'),
  }, async () => {
    const mine = '0123456789ab';
    const theirs = 'fedcba987654';
    const poller = (storeId: string, agoMs: number) => ({
      identity: `1@host#00000000.${storeId}`,
      lastAccessTime: { seconds: Math.floor((Date.now() - agoMs) / 1_000), nanos: 0 },
    });
    const stillOther = await startHttpApp(
      {},
      {},
      {
        storeId: () => Promise.resolve(mine),
        pollers: [poller(mine, 0), poller(theirs, 30_000), { identity: 'python@host' }],
      },
    );
    const response = await stillOther.request('/readyz');
    expect(response.status).toBe(503);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    expect(checks['same_store']).toContain(`another event log (store ${theirs})`);
    expect(checks['same_store']).toContain('COLLOQUY_DATA');
    expect(checks['same_store']).toContain(`1@host#00000000.${theirs}`);
    const over = await startHttpApp(
      {},
      {},
      {
        storeId: () => Promise.resolve(mine),
        pollers: [poller(mine, 0), poller(theirs, 90_000)],
      },
    );
    expect((await over.request('/readyz')).status).toBe(200);
  });
});
