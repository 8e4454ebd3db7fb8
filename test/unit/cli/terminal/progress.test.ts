import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { logOf } from '../../../../src/cli/conversations/tail-command.js';
import { CHECKS, diagnose } from '../../../../src/cli/operate/doctor.js';
import { Progress } from '../../../../src/cli/terminal/progress.js';
import { type DeleteParts, deleteTenant } from '../../../../src/client/deletion/delete.js';

function streamOf(isTTY: boolean) {
  const chunks: string[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  return { stream, shown: () => chunks.filter((chunk) => !chunk.startsWith('\u001b')) };
}

describe('the progress of long work', () => {
  it('is one line on a terminal: done and total, and gone at the end', () => {
    const { stream, shown } = streamOf(true);
    const progress = new Progress('histories', stream);
    progress.at(0, 2);
    progress.step();
    progress.step();
    progress.end();
    expect(shown()).toEqual(['0 / 2 histories', '2 / 2 histories']);
  });

  it('is nothing anywhere else', () => {
    const { stream } = streamOf(false);
    for (const progress of [new Progress('events', stream), new Progress('events', undefined)]) {
      progress.at(1, 1);
      progress.end();
      expect(progress.isShown).toBe(false);
    }
    expect(stream.readableLength).toBe(0);
  });

  it('counts the events of an export', async () => {
    const events = [{ seq: 1 }, { seq: 2 }, { seq: 3 }];
    const conversation = {
      events: (from: { before?: string; after?: string } = {}) =>
        Promise.resolve(
          from.before === 'end'
            ? { events: events.slice(2), more: false }
            : {
                events: from.after ? events.slice(2) : events.slice(0, 2),
                cursor: 'c',
                more: !from.after,
              },
        ),
    } as unknown as Parameters<typeof logOf>[0];
    const { stream, shown } = streamOf(true);
    const exported: unknown[] = [];
    for await (const event of logOf(conversation, new Progress('events', stream)))
      exported.push(event);
    expect(exported).toEqual(events);
    expect(shown()).toEqual(['2 / 3 events', '3 / 3 events']);
  });

  it('counts the checks of a doctor', async () => {
    const refuse = () => Promise.reject(new Error('away'));
    const found: string[] = [];
    await diagnose(
      {
        ...{ address: 'here', namespace: 'default', taskQueue: 'q', searchAttributes: false },
        ...{ connect: refuse, openStore: refuse },
      },
      ({ check }) => found.push(check),
    );
    expect(found).toEqual(['temporal', 'store']);
    expect(CHECKS).toBe(6);
  });

  it('counts the conversations of a tenant that were deleted', async () => {
    const keys = ['a', 'b'].map((conversationId) => ({ tenant: 'acme', conversationId }));
    const none = () => Promise.resolve(true);
    const parts = {
      gateway: { toConversationError: (error: unknown) => error },
      executions: {
        ...{ all: () => Promise.resolve([]), newest: () => Promise.resolve(undefined) },
        ofTenant: async function* () {},
      },
      ...{ schedules: { removeAll: none }, whatIfs: { removeAll: none } },
      deletions: {
        ...{ isKnown: none, isDeleted: () => Promise.resolve(false), removeOfTenant: none },
        ...{
          begin: () => Promise.resolve([]),
          below: () => Promise.resolve([]),
          extend: none,
          finish: none,
        },
        ofTenant: async function* () {
          yield* keys;
        },
      },
      actor: { id: 'ops', verified: true, channel: 'api' },
    } as unknown as DeleteParts;
    const counted: number[] = [];
    const onDeleted = (count: number) => counted.push(count);
    expect(await deleteTenant(parts, 'acme', { onDeleted })).toEqual({ deleted: 2 });
    expect(counted).toEqual([1, 2]);
  });
});
