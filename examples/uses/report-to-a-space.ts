/**
 * A nightly job writes its report in a space, with the person and the agent who act on it. `spaces` is
 * `colloquy.spaces` of `openColloquy({ actor: { id: 'nightly-job' }, ... })`.
 */
import type { SpaceClient, SpaceMessage } from 'colloquy/spaces';

// #region report
export async function report(spaces: SpaceClient, night: string): Promise<SpaceMessage> {
  // A second run for the same night, such as after a crash, finds the same space and the same text.
  const requestId = `refunds-${night}`;
  const space = await spaces.create({ name: `Refunds of ${night}`, requestId });
  await space.add({ id: 'ann', name: 'Ann' });
  await space.add({ conversationId: requestId, agent: 'support' });
  // Wakes the agent.
  return await space.send('Three refunds have failed.', { requestId });
}
// #endregion report
