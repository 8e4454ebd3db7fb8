/** The cost of the event log for a conversation: reads of the newest history events, and no query of the workflow. */
import { expect, onTestFinished, test } from 'vitest';
import { calls, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { interceptor } from '../../support/engine/interceptors.js';
import { startDevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';

function answerTo(message: Message | undefined): ScriptedAnswer {
  if (message?.role === 'tool') return says('sunny');
  return message?.role === 'user' && JSON.stringify(message.parts).includes('weather?')
    ? calls('weather.lookup', { city: 'Rome' })
    : says('bye');
}

test('turns are projected without a query', async () => {
  const asked: string[] = [];
  // A server of this test's own: on a shared one a starting worker queries conversations of other tests.
  const server = await startDevServer();
  onTestFinished(() => server.stop());
  const engine = await startEngine({
    address: server.address,
    agents: [shop(scriptedBy(({ messages }) => answerTo(messages.at(-1))))],
    services: ledger(),
    connection: { interceptors: [interceptor((name) => asked.push(name))] },
  });
  // Proof that the interceptor sees calls of this connection. Reads of the history use another one; queries would
  // appear here.
  expect(asked).toContain('GetSystemInfo');
  // On a busy machine a task's completion may reach the server after the last read of the history; then the workflow is
  // queried, and the turns are repeated.
  const queried = async (): Promise<boolean> => {
    asked.length = 0;
    const { talk, result } = await engine.ask('weather?');
    expect(result).toMatchObject({ status: 'completed', text: 'sunny' });
    expect(await engine.say(talk, 'thanks')).toMatchObject({ text: 'bye' });
    return asked.includes('QueryWorkflow');
  };
  await until('two turns without a query', queried, { holds: (seen) => !seen });
});
