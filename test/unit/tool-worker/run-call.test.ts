/** One call of a tool worker, which runs very many of them. */
import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Api } from '../../../src/tool-worker/api.js';
import { settingsOf } from '../../../src/tool-worker/options.js';
import { runCall } from '../../../src/tool-worker/run-call.js';
import { offer, ScriptedApi } from './scripted-api.js';

it('a call that is over leaves no listener on the signals of its worker', async () => {
  const api = new ScriptedApi();
  const settings = settingsOf({
    ...{ url: 'http://api.example', fetch: api.fetch, tools: { render: () => 1 } },
  });
  const [stopped, draining] = [new AbortController().signal, new AbortController().signal];
  const parts = { api: new Api(settings), settings, stopped, draining };
  for (const name of ['a', 'b', 'c']) await runCall(parts, offer(name));
  expect(api.of('resolution')).toHaveLength(3);
  expect(getEventListeners(stopped, 'abort')).toEqual([]);
  expect(getEventListeners(draining, 'abort')).toEqual([]);
});
