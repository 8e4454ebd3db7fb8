/** The watchdog's note of a request that blocks the API. */
import { expect, it } from 'vitest';
import { register } from '../../../src/watchdog/operations.js';
import { promise } from '../../support/promise.js';
import { startHttpApp } from '../../support/servers/http-app.js';

it('a request is noted by method and path, without its query, until it is answered', {
  ...promise('G273'),
}, async () => {
  const seen: (readonly string[])[] = [];
  const app = await startHttpApp(
    {},
    {
      conversations: {
        checkWritable: () => Promise.resolve(),
        list: () => {
          seen.push(register.underWay());
          return Promise.resolve({ conversations: [] });
        },
      },
    },
  );
  expect((await app.request('/v1/conversations?agent=support')).status).toBe(200);
  expect(seen).toEqual([['request GET /v1/conversations']]);
  expect(register.underWay()).toEqual([]);
});
