/** What the event log costs a conversation: looks at the newest history events, and not one query of the workflow. */
import type { ConnectionOptions } from '@temporalio/client';
import { expect, test } from 'vitest';
import { calls, says, script } from '../../src/model/scripted.js';
import { startEngine } from '../support/engine.js';
import { ledger, shop } from '../support/engine-agents.js';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** The next one's call is of the interface, not of the class that the type asks for. */
const goOn = ((options, nextCall) => nextCall(options)) as (
  ...parameters: Parameters<Interceptor>
) => never;

test('turns are projected without a query', async () => {
  const asked: string[] = [];
  const engine = await startEngine({
    agents: [shop(script(calls('weather.lookup', { city: 'Rome' }), says('sunny'), says('bye')))],
    services: ledger(),
    connection: {
      interceptors: [
        (options, nextCall) => {
          asked.push(options.method_definition.path.split('/').at(-1) ?? '');
          return goOn(options, nextCall);
        },
      ],
    },
  });
  const { talk, result } = await engine.ask('weather?');
  expect(result).toMatchObject({ status: 'completed', text: 'sunny' });
  expect(await engine.say(talk, 'thanks')).toMatchObject({ text: 'bye' });
  expect(asked).toContain('GetWorkflowExecutionHistoryReverse');
  expect(asked).not.toContain('QueryWorkflow');
});
