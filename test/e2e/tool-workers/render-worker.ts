/**
 * Child of `tool-workers-killed.test.ts`: a tool worker that prints when a handler starts and ends. Arguments: the
 * secret and the addresses of the API.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createToolWorker } from '../../../src/tool-worker/index.js';

const say = (line: object): void => {
  process.stdout.write(`${JSON.stringify({ ...line, at: Date.now() })}\n`);
};

const [token = '', ...url] = process.argv.slice(2);
createToolWorker({
  url,
  token,
  concurrency: 3,
  leaseMs: 5_000,
  tools: {
    'video.render': async (input, { claimId, ref, signal }) => {
      say({ type: 'start', claimId, ref });
      // An abort is the end of the handler as well.
      await sleep(200 + Math.random() * 400, undefined, { signal }).catch(() => undefined);
      say({ type: 'end', claimId, ref, aborted: signal.aborted });
      return { claimId, scene: (input as { scene: string }).scene };
    },
  },
  onError: ({ message }) => say({ type: 'failure', message }),
});
say({ type: 'ready' });
