/** A model request that is still running at its provider when its run is due to roll over. */
import { expect, test } from 'vitest';
import { ModelFailure } from '../../../src/model/shared/failure.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { transcriptQueries } from '../../support/engine/interceptors.js';
import { until } from '../../support/until.js';

test('a call repeated because its transcript was incomplete is made before the roll-over, and resumes the running request', async () => {
  const resumed: (string | undefined)[] = [];
  let cut: (() => void) | undefined;
  let isMissing = false;
  const model: Model = {
    name: 'patient',
    generate: async (_request, { resume, onReport }) => {
      resumed.push(resume);
      if (resumed.length === 2) {
        onReport?.({ type: 'accepted' });
        onReport?.({ type: 'open', id: 'resp_1' });
        await new Promise<void>((resolve) => {
          cut = resolve;
        });
        throw new ModelFailure('model_stream_broken', 'cut', { retryable: true });
      }
      return {
        parts: [{ type: 'text', text: 'Here I am.' }],
        calls: [],
        finishReason: 'stop',
        usage: { inputTokens: 1, outputTokens: 1 },
        model: 'patient',
      };
    },
    cancel: async () => {
      await Promise.resolve();
    },
  };
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger(),
    transcriptCacheBytes: 0,
    connection: {
      interceptors: [
        transcriptQueries(() => {
          if (isMissing) throw new Error('no queries today');
        }),
      ],
    },
  });
  const { talk } = await engine.ask('one');
  const turn = await engine.send(talk, 'two');
  await until('the request goes on', () => Promise.resolve(cut), {
    holds: (end) => end !== undefined,
  });
  await engine.signal(talk, 'rollOver');
  isMissing = true;
  cut?.();
  expect(await turn.result({ timeout: '30s' })).toMatchObject({
    status: 'completed',
    text: 'Here I am.',
  });
  // The attempt without the messages sent no request; the repeated call was sent all of them.
  expect(resumed).toEqual([undefined, undefined, 'resp_1']);
  isMissing = false;
  await until('the run has rolled over', () => engine.history.runs(engine.workflowId(talk)), {
    holds: ({ length }) => length === 2,
  });
  expect(await engine.say(talk, 'three')).toMatchObject({ status: 'completed' });
});
