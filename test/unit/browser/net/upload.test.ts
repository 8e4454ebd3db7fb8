/** The upload of a file: it may take the time of its size, and is given up when the API is silent after that. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBrowserClient } from '../../../../src/browser/index.js';
import { type FetchCall, json, scriptedFetch } from '../../../support/pages/scripted-fetch.js';
import { promise } from '../../../support/promise.js';

const MIB = 1024 * 1024;
const FILE = new Blob([new Uint8Array(8 * MIB)]);
/** At 32 kB a second. */
const UP_MS = (8 * MIB) / 32;
const SILENCE_MS = 40_000;
const BLOB = { id: 'f'.repeat(64), bytes: FILE.size, type: 'application/octet-stream' };

/** The answer after so long. As with `fetch`, an abort ends the request. */
async function after(ms: number, { signal }: FetchCall): Promise<Response> {
  await new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => reject(new Error('aborted')));
  });
  return json({ blob: BLOB }, { status: 201 });
}

function pageOver(ms: number) {
  const { fetch, calls } = scriptedFetch((call) => after(ms, call));
  const client = createBrowserClient({ baseUrl: '', fetch });
  return { calls, conversation: client.conversation('c1') };
}

describe('the upload of a file', promise('G428'), () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('that takes longer than the silence of an answer is sent once', async () => {
    const { calls, conversation } = pageOver(UP_MS + SILENCE_MS - 1);
    const stored = conversation.upload(FILE);
    await vi.advanceTimersByTimeAsync(UP_MS + SILENCE_MS);
    expect(await stored).toEqual(BLOB);
    expect(calls).toHaveLength(1);
  });

  it('is no answer after the time of its size, and is given up', async () => {
    const { calls, conversation } = pageOver(86_400_000);
    const failures: unknown[] = [];
    void conversation.upload(FILE).catch((error: unknown) => failures.push(error));
    await vi.advanceTimersByTimeAsync(UP_MS + SILENCE_MS - 1);
    expect(failures).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(failures).toMatchObject([{ problem: { status: 0, code: 'unreachable' } }]);
    expect(calls).toHaveLength(1);
  });
});
