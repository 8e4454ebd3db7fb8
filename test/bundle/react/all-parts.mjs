/** Prints the version of React, and a page with the hooks and parts of `colloquy/react` as HTML. */
import { createBrowserClient, formOf } from 'colloquy/browser';
import {
  Approval,
  createHooks,
  EditForm,
  Question,
  useClientTools,
  useConversation,
  useInputSchema,
  useNestedPending,
  usePending,
  useWorklist,
} from 'colloquy/react';
import { createElement, StrictMode, version } from 'react';
import { renderToString } from 'react-dom/server';

const client = createBrowserClient({ baseUrl: 'http://127.0.0.1:9', me: { id: 'ann' } });
const typed = createHooks();
const FORM = formOf({
  ...{ type: 'object', required: ['name', 'size'] },
  properties: {
    name: { type: 'string', description: 'As on the label' },
    size: { type: 'string', enum: ['s', 'l'] },
    extras: { type: 'array', items: { type: 'string', enum: ['bulb', 'shade'] } },
    gift: { type: 'boolean' },
  },
});
const CALL = {
  ...{ ref: 'call-1', toolCallId: 'call-1', turnId: 't1', name: 'refund', argsDigest: 'd-1' },
  ...{ executor: 'server', kind: 'approval', state: 'waiting_for_you', prompt: { cents: 7_500 } },
  ...{ openedAt: '2030-01-01T00:00:00.000Z', deadline: '2030-01-02T00:00:00.000Z' },
};
const QUESTION = { ...CALL, name: 'ask', kind: 'elicitation', form: FORM };

function Page() {
  const used = useConversation(client, 'c1');
  const inputSchema = useInputSchema(client, { agent: 'support', tool: 'refund' });
  const { view } = useWorklist(client);
  useClientTools(client, { 'cart.read': () => [] });
  typed.useClientTools(client, {});
  const waits = [...usePending(used), ...useNestedPending(client, used), ...view.items];
  const { conversation } = used;
  return createElement(
    'main',
    {},
    createElement(Approval, { call: CALL, conversation, inputSchema }),
    createElement(typed.Approval, { call: CALL, conversation }),
    createElement(Question, { call: QUESTION, conversation }),
    createElement(EditForm, { input: { cents: 900 }, onApprove: () => undefined }),
    createElement('p', {}, `${waits.length} calls wait`),
  );
}

process.stdout.write(`React ${version}\n`);
process.stdout.write(renderToString(createElement(StrictMode, {}, createElement(Page))));
