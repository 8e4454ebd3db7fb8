/** Forks: recorded is the conversation that was forked from another. */
import { calls, callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../engine/agents.js';
import { startEngine } from '../../engine/engine.js';
import type { Recorded, Scenario } from './scenario.js';

/** One gated call waits anew, the other stays with the origin. */
async function forked(id: string): Promise<Recorded> {
  const gated = { name: 'clock.gated', input: {} };
  const model = script(
    calls('weather.lookup', { city: 'Oslo' }),
    callsAll([gated, { name: 'customer.ask', input: { question: 'A?' } }]),
    says('done'),
    says('again'),
  );
  const engine = await startEngine({ agents: [shop(model)], services: ledger(), taskQueue: id });
  const origin = engine.begin(`${id}-origin`);
  await engine.say(origin, 'hello');
  const { length: atSeq } = await engine.log(origin);
  const [waits] = await origin.pending();
  const reopen = [waits?.toolCallId ?? ''];
  await origin.fork({ generation: 1, atSeq, reopen, id });
  const talk = engine.begin(id);
  await talk.resolve(reopen[0] ?? '', { type: 'approve' });
  await engine.idle(talk);
  await engine.say(talk, 'and on');
  return { engine, talk };
}

export const SCENARIOS_OF_FORKS: readonly Scenario[] = [{ name: 'forked', converse: forked }];
