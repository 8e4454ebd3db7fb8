/** A deletion is finished only when the server has nothing of the conversation any more. */
import { describe, expect, it } from 'vitest';
import {
  type DeleteParts,
  deleteConversation,
  deleteTenant,
} from '../../../../src/client/deletion/delete.js';
import { Housekeeping } from '../../../../src/projection/duties/housekeeping.js';
import { promise } from '../../../support/promise.js';

const KEY = { tenant: 'default', conversationId: 'c-1' };
const CHILD = { tenant: 'default', conversationId: 'sub-1' };
const RUN = { runId: 'run-1', firstRunId: 'run-1', isRunning: false };

/** A server that has a run, triggers and what-ifs, and forgets as many requests to remove the run as the test says. */
function server({
  forgets = 0,
  isDeleted = true,
  lateTriggers = 0,
  lateWhatIfs = 0,
  lateSubAgents = 0,
}) {
  const asked: string[] = [];
  let [runs, triggers] = [forgets + 1, lateTriggers];
  let [whatIfs, subAgents] = [lateWhatIfs, lateSubAgents];
  const parts = {
    gateway: { toConversationError: (error: unknown) => error },
    executions: {
      all: () => Promise.resolve(runs > 0 ? [RUN] : []),
      newest: () => Promise.resolve(runs > 0 ? RUN : undefined),
      remove: (_: unknown, runId: string) => {
        asked.push(runId);
        runs -= 1;
        return Promise.resolve(runs >= 0);
      },
    },
    schedules: {
      removeAll: () => {
        asked.push('triggers');
        triggers -= 1;
        return Promise.resolve(triggers >= 0);
      },
    },
    whatIfs: {
      removeAll: () => {
        whatIfs -= 1;
        return Promise.resolve(whatIfs >= 0);
      },
    },
    deletions: {
      isKnown: () => Promise.resolve(true),
      isDeleted: () => Promise.resolve(isDeleted),
      begin: () => Promise.resolve([RUN.runId]),
      below: ({ conversationId }: typeof KEY) => {
        if (conversationId !== KEY.conversationId) return Promise.resolve([]);
        subAgents -= 1;
        return Promise.resolve(subAgents >= 0 ? [CHILD] : []);
      },
      extend: () => Promise.resolve(),
      finish: ({ runIds }: { readonly runIds: readonly string[] }) => {
        asked.push(runIds.includes(RUN.runId) ? 'finish' : 'finish without its runs');
        return Promise.resolve();
      },
    },
    actor: { id: 'ops', verified: true, channel: 'api' },
  };
  return { asked, parts: parts as unknown as DeleteParts };
}

const resumes = [RUN.runId];

describe('a deletion', promise('G253'), () => {
  it('is finished by the repeat that finds nothing left', async () => {
    const { asked, parts } = server({ forgets: 1 });
    expect(await deleteConversation(parts, KEY)).toMatchObject({ deleted: true });
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).toEqual(['triggers', 'run-1', 'triggers', 'run-1']);
    await deleteConversation(parts, KEY, { resumes });
    expect(asked.slice(4)).toEqual(['triggers', 'run-1', 'finish']);
  });

  it('is not finished at once, because new runs of triggers may not be listed yet', async () => {
    const { asked, parts } = server({ forgets: -1, lateTriggers: 2 });
    await deleteConversation(parts, KEY);
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).not.toContain('finish');
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).toContain('finish');
  });

  it('is not finished while a what-if is left, because one that began late may not be listed yet', async () => {
    const { asked, parts } = server({ forgets: -1, lateWhatIfs: 2 });
    await deleteConversation(parts, KEY);
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).not.toContain('finish');
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).toContain('finish');
  });

  it('is not finished while a sub-agent is left, because one that began late may not be stored yet', async () => {
    const { asked, parts } = server({ forgets: -1, lateSubAgents: 3 });
    await deleteConversation(parts, KEY);
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).not.toContain('finish');
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).toContain('finish');
  });

  it('that is continued leaves the triggers of a conversation that has begun under the id since', async () => {
    const { asked, parts } = server({ isDeleted: false });
    await deleteConversation(parts, KEY, { resumes });
    await deleteConversation(parts, KEY, { resumes });
    expect(asked).toEqual(['run-1', 'run-1', 'finish']);
  });

  it('is continued once a minute at most, because requests slow the server down', async () => {
    let now = 1_000_000;
    const resumed: unknown[] = [];
    let unfinished = [{ ...KEY, runIds: ['run-1'] }];
    const duties = new Housekeeping({
      log: {
        closedBefore: () => Promise.resolve([]),
        unfinishedDeletions: () => Promise.resolve(unfinished),
        forgetDeletions: () => Promise.resolve(0),
      } as never,
      delete: (_, request) => {
        resumed.push(request);
        return Promise.resolve({ deleted: true, conversationId: KEY.conversationId });
      },
      now: () => now,
    });
    for (const pauseMs of [0, 5_000, 54_000, 1_000, 59_000]) {
      now += pauseMs;
      await duties.pass();
    }
    expect(resumed).toEqual([{ resumes: ['run-1'] }, { resumes: ['run-1'] }]);
    unfinished = [];
    await duties.pass();
    unfinished = [{ ...KEY, runIds: ['run-2'] }];
    await duties.pass();
    expect(resumed.at(-1)).toEqual({ resumes: ['run-2'] });
  });
});

it('only a deletion that is continued keeps what was stored for the next conversation of the id', async () => {
  const { parts } = server({});
  const kept: unknown[] = [];
  Object.assign(parts.deletions, {
    extend: ({ resumed }: Parameters<typeof parts.deletions.extend>[0]) => {
      kept.push(resumed);
      return Promise.resolve();
    },
  });
  await deleteConversation(parts, KEY);
  await deleteConversation(parts, KEY, { resumes });
  expect(kept).toEqual([false, true]);
});

describe('the deletion of a tenant', promise('G422'), () => {
  it('removes documents that a model call has stored until the last conversation ended', async () => {
    const documents = new Set(['before']);
    const { parts } = server({});
    const whenEnded = parts.deletions.extend;
    async function* keys() {
      yield await Promise.resolve(KEY);
    }
    Object.assign(parts.executions, { ofTenant: keys });
    Object.assign(parts.deletions, {
      ofTenant: keys,
      extend: async (request: Parameters<typeof whenEnded>[0]) => {
        await whenEnded(request);
        documents.add('meanwhile');
      },
      removeOfTenant: () => {
        documents.clear();
        return Promise.resolve();
      },
    });
    await deleteTenant(parts, 'default');
    expect(documents).toEqual(new Set());
  });
});
