/**
 * A conversation for the kept histories: a call is claimed, renewed after a roll-over, lost, and claimed by another
 * client.
 */
import type { Conversation } from '../../../src/client/index.js';
import type { Engine } from '../engine/engine.js';

export async function claimLostAndClaimedAgain(
  engine: Engine,
  talk: Conversation,
  rollOver: (engine: Engine, talk: Conversation, runs: number) => Promise<void>,
): Promise<void> {
  const ann = { toolCallId: 'call_1', actor: { id: 'ann' }, leaseMs: 3_600_000 };
  const first = await engine.update<{ claimId: string }>(talk, 'claimToolCall', ann);
  await rollOver(engine, talk, 2);
  await engine.update(talk, 'claimToolCall', { ...ann, claimId: first.claimId });
  const [held] = (await engine.snapshot(talk)).pending;
  await engine.update(talk, 'leaseLost', {
    toolCallId: 'call_1',
    claimId: first.claimId,
    seq: held?.claim?.seq,
  });
  const ben = { id: 'ben' };
  const next = await talk.claim('call_1', { actor: ben });
  const claimId = 'claimId' in next ? next.claimId : '';
  await talk.resolve('call_1', { type: 'result', value: 3 }, { actor: ben, claimId });
  await engine.idle(talk);
  // Its timer is that of the claim timeout.
  await engine.say(talk, 'again');
}
