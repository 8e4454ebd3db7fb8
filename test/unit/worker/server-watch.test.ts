import { expect, it } from 'vitest';
import { ServerWatch } from '../../../src/worker/watch/server-watch.js';
import { promise } from '../../support/promise.js';

it('a worker logs once that Temporal is gone, and once that it is back', {
  ...promise('G245'),
}, async () => {
  const said: string[] = [];
  let isAway = false;
  const watch = new ServerWatch({
    address: '127.0.0.1:7233',
    ping: () => (isAway ? Promise.reject(new Error('connection refused')) : Promise.resolve()),
    logger: {
      info: (message) => {
        said.push(`info: ${message}`);
      },
      warn: (message, fields) => {
        said.push(`warn: ${message} ${JSON.stringify(fields)}`);
      },
    },
  });
  await watch.check();
  isAway = true;
  await watch.check();
  expect(said, 'one that was missed may be a busy machine').toEqual([]);
  for (let times = 0; times < 9; times += 1) await watch.check();
  expect(said).toEqual([
    expect.stringMatching(/^warn: Temporal at 127\.0\.0\.1:7233 does not answer\. .*refused/),
  ]);
  isAway = false;
  for (let times = 0; times < 3; times += 1) await watch.check();
  expect(said.slice(1)).toEqual(['info: Temporal at 127.0.0.1:7233 answers again']);
});
