/** Waiting calls of conversations that no workflow runs: only the store has them, which is all that the list reads. */
import { join } from 'node:path';
import type { EventBody } from '#dist/protocol/log/events.js';
import { openSqliteStores } from '#dist/store/sqlite/event-log.js';

const HOUR_MS = 3_600_000;
const TOOLS = ['pay.invoice', 'mail.send', 'order.cancel', 'user.delete', 'ticket.close'];

/** Puts them into the store of the folder. Their deadlines are spread over a day, the first in two hours. */
export async function fill(dataDir: string, count: number): Promise<void> {
  const { log } = await openSqliteStores({ file: join(dataDir, 'log.db') });
  try {
    for (let index = 0; index < count; index += 1) {
      const key = { tenant: 'default', conversationId: `filled-${index}` };
      const bodies = bodiesOf(index, { key, count });
      const at = new Date().toISOString();
      const events = bodies.map((body, place) => ({ ...body, seq: place + 1, at }));
      await log.append({ ...key, runId: 'filled', events });
    }
  } finally {
    await log.close();
  }
}

function bodiesOf(
  index: number,
  of: {
    readonly key: { readonly tenant: string; readonly conversationId: string };
    readonly count: number;
  },
): readonly EventBody[] {
  const now = Date.now();
  const deadline = now + 2 * HOUR_MS + (22 * HOUR_MS * index) / of.count;
  const name = TOOLS[index % TOOLS.length] ?? '';
  const turn = { turnId: 't1', messageId: 't1.0' };
  const settings = { maxSteps: 25, onBusy: 'queue', idleCloseMs: 86_400_000, coreRevision: 1 };
  const actor = { id: `user-${index % 50}`, verified: true, channel: 'api' };
  const parts = [{ type: 'text', text: 'Please' }];
  const suspension = {
    ...{ toolCallId: 'call-0', turnId: 't1', name, executor: 'server', kind: 'approval' },
    prompt: { reference: `R-${index}`, cents: index * 7, note: 'The parcel was never delivered.' },
    reason: 'Money leaves the house',
    ...(index % 3 === 0 ? { risk: 'high' } : {}),
    argsDigest: `sha256:${index}`,
    openedAt: new Date(now).toISOString(),
    deadline: new Date(deadline).toISOString(),
  };
  return [
    { type: 'conversation_started', ...of.key, agent: 'bench-clerk', chain: 'filled', settings },
    { type: 'user_message', ...turn, requestId: `r-${index}`, actor, parts },
    { type: 'turn_started', ...turn },
    { type: 'suspension', suspension },
  ] as unknown as readonly EventBody[];
}
