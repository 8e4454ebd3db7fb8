/** Requests of model calls as those who look at them read them, against those that the model got. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.js';
import { callsAll, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import type { ModelRequest } from '../../../src/protocol/model/model.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const look = defineTool({
  ...{ name: 'look', description: 'Looks a number up.', effects: 'none' },
  input: z.object({ n: z.number() }),
  run: ({ n }) => ({ n }),
});

test('the request of a model call is read whole without an audit, also when no worker runs any more', {
  ...promise('G421'),
}, async () => {
  const given: ModelRequest[] = [];
  const model = scriptedBy((request) => {
    given.push(request);
    return request.messages.at(-1)?.role === 'tool'
      ? says('seen')
      : callsAll([{ name: 'look', input: { n: 1 } }]);
  });
  const agent = defineAgent({ name: 'looker', model, instructions: 'Look.', tools: [look] });
  const engine = await startEngine({ agents: [agent] });
  const { talk } = await engine.ask('Look it up');
  await engine.idle(talk);
  const log = await engine.log(talk);
  const seqs = log.flatMap(({ type, seq }) => (type === 'model_call' ? [seq] : []));
  expect(seqs).toHaveLength(2);
  const read = async (seq: number) => await talk.modelCall(seq);
  const last = seqs.at(-1) ?? 0;
  await until('the definition is kept', async () => (await read(last)).unknown.length === 0);
  await engine.stopWorker();
  for (const [index, seq] of seqs.entries()) {
    const { stableMessages: _stable, cacheKey: _key, ...request } = given[index] as ModelRequest;
    expect(await read(seq)).toMatchObject({ source: 'derived', request, unknown: [] });
  }
  expect((await read(last)).changes).toMatchObject({
    ...{ same: 1, settings: [], tools: { added: [], removed: [], changed: [] } },
  });
});
