/** Finds the turn of a log that is to be played again, or why it cannot be. Pure. */
import type { WhatIfPoint, WhatIfTurn } from '../../protocol/forks/forks.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { recordedTurnOf } from './recorded.js';

/** Undefined when the log is empty. */
export async function whatIfPointOf(
  events: AsyncIterable<CanonicalEvent>,
  { turnId }: Pick<WhatIfTurn, 'turnId'>,
): Promise<WhatIfPoint | undefined> {
  const read = { events: 0 };
  const turn = await recordedTurnOf(
    (async function* () {
      for await (const event of events) {
        read.events += 1;
        yield event;
      }
    })(),
    { turnId },
  );
  if (read.events === 0) return undefined;
  if (turn === undefined)
    return refused('must be a turn of the conversation in which a model has answered');
  if (turn.isHandedOver)
    return refused('must be a turn that one agent has answered: this one was passed on');
  if (!turn.isWhole) return refused('must be a turn whose messages the log still has');
  const { agent, startedAt, lastSeq: throughSeq } = turn;
  return { turnId: turn.turnId, agent, startedAt, throughSeq };
}

function refused(message: string): WhatIfPoint {
  return { problems: [{ path: '/turnId', message }] };
}
