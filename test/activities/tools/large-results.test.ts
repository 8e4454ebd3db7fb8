/** Tool results that are too large to be shown whole: with a store, without one, and with one that is down. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool, readResults, type Tool } from '../../../src/index.js';
import { type BlobStore, StoreUnavailable } from '../../../src/projection/index.js';
import type { ToolResultEnvelope } from '../../../src/protocol/calls/results.js';
import {
  MAX_BLOB_BYTES,
  MAX_TOOL_RESULT_BYTES,
} from '../../../src/protocol/limits/service-limits.js';
import { auditText } from '../../../src/protocol/model/audits.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';
import { ended } from '../../support/samples/tool-ends.js';
import { environment, key, type Setup, setUp, toolInput } from './fixtures.js';

type Work = Tool<{ readonly rate: number }>;
type Marked = { readonly truncated: true; readonly text: string; readonly note: string };

function returns(value: unknown, maxResultBytes?: number): Work {
  return defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({ a: z.int() }),
    ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
    run: () => value,
  });
}

async function memory(): Promise<BlobStore> {
  return (await openSqliteStores({ file: ':memory:' })).blobs;
}

async function resultOf(
  tool: Work,
  setup: Pick<Setup, 'blobs' | 'isOrphanedRun'> & { readonly readable?: boolean } = {},
): Promise<Extract<ToolResultEnvelope, { ok: true }>> {
  const { readable = false, ...rest } = setup;
  const tools = readable ? [tool, readResults] : [tool];
  const { activities } = setUp({ tools, ...rest });
  const { envelope } = ended(await environment().run(activities.runTool, toolInput()));
  if (!envelope.ok) throw new Error(envelope.error.message);
  return envelope;
}

describe('a large result', () => {
  it('is stored whole, and the model sees its beginning with the id', async () => {
    const blobs = await memory();
    const rows = Array.from({ length: 900 }, (_, id) => ({ id, name: `row ${id}` }));
    const { result, blob } = await resultOf(returns(rows, 4_096), { blobs });
    const marked = result as Marked;
    const whole = JSON.stringify(rows);
    expect(blob).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      bytes: whole.length,
      type: 'application/json',
    });
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(4_096);
    expect(whole.startsWith(marked.text)).toBe(true);
    expect(marked.note).toBe(
      `[truncated: ${marked.text.length} of ${whole.length} bytes shown; all of it is stored with id ${blob?.id ?? ''}]`,
    );
    const stored = await blobs.get(key, blob?.id ?? '');
    expect(Buffer.from(stored?.content ?? []).toString()).toBe(whole);
  });

  it('is stored as plain text if it is text, and for agents with a reading tool the note says how to continue', async () => {
    const blobs = await memory();
    const text = 'line\n'.repeat(2_000);
    const { result, blob } = await resultOf(returns(text, 1_024), { blobs, readable: true });
    const { text: shown, note } = result as Marked;
    expect(blob).toMatchObject({ bytes: 10_000, type: 'text/plain' });
    expect(note).toMatch(/, read on with results__read from offset \d+\]$/);
    expect(Number(/offset (\d+)/.exec(note)?.[1])).toBe(shown.length);
    const { activities } = setUp({ tools: [returns(1), readResults], blobs });
    const input = { id: blob?.id ?? '', offset: shown.length, limit: 100 };
    const call = { ...toolInput({ name: 'results.read' }).call, input };
    const end = ended(await environment().run(activities.runTool, { ...toolInput(), call }));
    expect(end.envelope).toMatchObject({
      ok: true,
      result: { text: text.slice(shown.length, shown.length + 100) },
    });
  });

  it('is stored once for any number of runs of the call', async () => {
    const blobs = await memory();
    const tool = returns('x'.repeat(5_000), 1_024);
    const first = await resultOf(tool, { blobs });
    expect(await resultOf(tool, { blobs })).toEqual(first);
    expect(await blobs.list({ limit: 9 })).toHaveLength(1);
  });

  it('stays unchanged up to the bound, which is 200 KB by default', async () => {
    const blobs = await memory();
    const most = 'x'.repeat(MAX_TOOL_RESULT_BYTES - 2);
    expect(await resultOf(returns(most), { blobs })).toEqual({ ok: true, result: most });
    expect(await blobs.list({ limit: 9 })).toEqual([]);
    const { result, blob } = await resultOf(returns(`${most}x`), { blobs });
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(MAX_TOOL_RESULT_BYTES);
    expect(blob?.bytes).toBe(MAX_TOOL_RESULT_BYTES - 1);
  });

  const cutOnly = {
    ok: true,
    result: {
      truncated: true,
      text: expect.stringMatching(/^x+$/) as string,
      note: expect.stringMatching(/^\[truncated: \d+ of 5000 bytes shown\]$/) as string,
    },
  };

  it('is cut without a store', promise('G279'), async () => {
    expect(await resultOf(returns('x'.repeat(5_000), 1_024))).toEqual(cutOnly);
  });

  it('is cut while the store is down: the call does not fail', promise('G279'), async () => {
    const blobs = {
      put: () => Promise.reject(new StoreUnavailable('the disk is gone')),
      get: () => Promise.reject(new StoreUnavailable('the disk is gone')),
      delete: () => Promise.reject(new StoreUnavailable('the disk is gone')),
    };
    expect(await resultOf(returns('x'.repeat(5_000), 1_024), { blobs })).toEqual(cutOnly);
  });

  it('is not kept if its conversation was deleted in the meantime', async () => {
    const blobs = await memory();
    const asked: string[] = [];
    const isOrphanedRun = async (about: typeof key, runId: string) => {
      expect(about).toEqual(key);
      asked.push(runId);
      return Promise.resolve((await blobs.list({ limit: 9 })).length > 0);
    };
    expect(await resultOf(returns('x'.repeat(5_000), 1_024), { blobs, isOrphanedRun })).toEqual(
      cutOnly,
    );
    expect(asked).toHaveLength(1);
    expect(await blobs.list({ limit: 9 })).toEqual([]);
  });

  it('is cut when the store takes too long, because the run would time out', {
    ...promise('G279'),
  }, async () => {
    const blobs = {
      put: () => new Promise<never>(() => undefined),
      get: () => Promise.resolve(undefined),
      delete: () => Promise.resolve(0),
    };
    expect(await resultOf(returns('x'.repeat(5_000), 1_024), { blobs })).toEqual(cutOnly);
  });

  it('is cut when it exceeds the limit of the store', async () => {
    const blobs = await memory();
    const { result, blob } = await resultOf(returns('x'.repeat(MAX_BLOB_BYTES + 1), 1_024), {
      blobs,
    });
    expect(blob).toBeUndefined();
    expect((result as Marked).note).toMatch(/^\[truncated: \d+ of 16777217 bytes shown\]$/);
  });
});

describe('a stored result', () => {
  it('is unknown to every other conversation', promise('G280'), async () => {
    const blobs = await memory();
    const other = { tenant: 'default', conversationId: 'c-2' };
    const { id } = await blobs.put(other, { type: 'text/plain', content: Buffer.from('secret') });
    const { activities } = setUp({ tools: [readResults], blobs });
    const call = { ...toolInput({ name: 'results.read' }).call, input: { id } };
    const end = ended(await environment().run(activities.runTool, { ...toolInput(), call }));
    expect(end.envelope).toEqual({
      ok: false,
      error: {
        code: 'tool_error',
        message: `This conversation has no stored result with id "${id}"`,
      },
    });
  });

  it('that is the audit of a model call is unknown to tools, whole and in part', async () => {
    const blobs = await memory();
    const call = { turnId: 't', step: 1, attempt: 1, purpose: 'answer', outcome: 'answered' };
    const content = Buffer.from(auditText(call, { request: { system: 'Instructions.' } }));
    const { id } = await blobs.put(key, { type: 'application/json', content });
    const tool: Work = defineTool({
      name: 'work',
      description: 'Works.',
      input: z.object({ a: z.int() }),
      run: async (_input, ctx) => [
        (await ctx.storedResults.read(id)) === undefined,
        (await ctx.storedResults.read(id, { offset: 2, length: 3 })) === undefined,
      ],
    });
    expect((await resultOf(tool, { blobs })).result).toEqual([true, true]);
  });

  it('can be read by the code of any tool of its conversation', async () => {
    const blobs = await memory();
    const content = Buffer.from('0123456789');
    const { id } = await blobs.put(key, { type: 'text/plain', content });
    const tool: Work = defineTool({
      name: 'work',
      description: 'Works.',
      input: z.object({ a: z.int() }),
      run: async (_input, ctx) => {
        const part = await ctx.storedResults.read(id, { offset: 2, length: 3 });
        return { ...part, content: Buffer.from(part?.content ?? []).toString() };
      },
    });
    const { result } = await resultOf(tool, { blobs });
    expect(result).toEqual({ bytes: 10, type: 'text/plain', content: '234' });
  });
});
