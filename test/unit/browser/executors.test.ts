/** Pages distinguish the executors of calls: in conversations by the view, in spaces by what a renderer gets. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { toolRenderers } from '../../../src/browser/spaces/index.js';
import { ViewModel } from '../../../src/browser/view/model.js';
import { defineTool, type Tool } from '../../../src/index.js';
import { callsAll, saysAfter } from '../../../src/model/scripted/scripted.js';
import { promise } from '../../support/promise.js';
import { DESK } from '../../support/spaces/room-of-agent.js';
import { storedRoom } from '../../support/spaces/stored-room.js';

const of = { input: z.object({}), metadata: { visible: true } };
const TOOLS: readonly Tool[] = [
  defineTool({ ...of, name: 'search', description: 'Searches', run: () => 'found' }),
  defineTool({ ...of, name: 'chart', description: 'Draws', executor: 'internal' }),
  defineTool({ ...of, name: 'locate', description: 'Locates', executor: 'client' }),
  defineTool({ ...of, name: 'render', description: 'Renders', executor: 'external' }),
  defineTool({ name: 'web.search', executor: 'provider', provider: { type: 'web_search' } }),
  defineTool({
    ...{ ...of, name: 'confirm', description: 'Asks', executor: 'human' },
    output: z.boolean(),
  }),
];

/** One card for each executor; a page that knows no tool by name has these. */
const CARDS = {
  server: 'result',
  human: 'form',
  client: 'runs in this page',
  external: 'runs elsewhere',
  provider: 'the model has run it',
  internal: 'arguments',
} as const;

it(
  'each executor has a card of its own, of the same calls in a conversation and in a space',
  promise('A55'),
  async () => {
    const names = ['search', 'chart', 'locate', 'render', 'confirm'];
    const enter = { name: 'enter_space', input: { spaceId: DESK } };
    const asked = names.map((name) => ({ name, input: {} }));
    const searched = { name: 'web.search', input: {}, output: { hits: 2 } };
    const room = await storedRoom(TOOLS, callsAll([enter, ...asked]), saysAfter(searched, 'Done.'));
    const { t, messages, store } = room;
    await t.send('Go');
    await t.answer('locate', 'here');
    await t.answer('render', 'a video');
    await t.answer('confirm', true);
    await store();

    const renderers = toolRenderers({
      fallback: ({ toolName, executor }) => [toolName, executor && CARDS[executor]],
    });
    const inSpace = (await messages()).map((message) => renderers.render(message));
    expect(inSpace).toEqual([
      ['search', 'result'],
      ['chart', 'arguments'],
      ['locate', 'runs in this page'],
      ['render', 'runs elsewhere'],
      ['confirm', 'form'],
    ]);
    const page = new ViewModel('test', undefined);
    page.takeEvents(
      t.events.map((event) => ({ cursor: { generation: 1, seq: event.seq }, event })),
    );
    const shown = page.view.messages
      .flatMap((message) => (message.role === 'assistant' ? message.calls : []))
      .map(({ name, executor }) => [name, executor && CARDS[executor]]);
    expect(shown).toEqual([
      ['enter_space', 'result'],
      ...inSpace,
      ['web.search', 'the model has run it'],
    ]);
  },
);
