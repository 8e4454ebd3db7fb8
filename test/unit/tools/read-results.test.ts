/** The built-in tool by which a model reads on in a result that was too large to be shown whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/define/schemas/validate.js';
import type { ToolContext } from '../../../src/define/tool/context.js';
import { readResults } from '../../../src/index.js';
import { toWireName } from '../../../src/protocol/values/tool-names.js';
import { promise } from '../../support/promise.js';

interface Page {
  readonly offset: number;
  readonly totalBytes: number;
  readonly text: string;
  readonly nextOffset?: number;
}
interface Places {
  readonly totalBytes: number;
  readonly places: readonly { readonly offset: number; readonly text: string }[];
  readonly nextOffset?: number;
}

function contextOver(text: string): ToolContext {
  const whole = Buffer.from(text);
  return {
    storedResults: {
      read: (id: string, { offset, length } = { offset: 0, length: Infinity }) =>
        Promise.resolve(
          id === 'known'
            ? {
                bytes: whole.length,
                type: 'text/plain' as const,
                content: whole.subarray(offset, offset + length),
              }
            : undefined,
        ),
    },
  } as unknown as ToolContext;
}

async function read<Result>(
  text: string,
  input: { readonly offset?: number; readonly limit?: number; readonly find?: string },
): Promise<Result> {
  return (await readResults.run?.({ id: 'known', ...input }, contextOver(text))) as Result;
}

async function allPages(text: string, limit: number): Promise<string> {
  const pages: Page[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page: Page = await read(text, { offset, limit });
    expect(page.offset).toBe(offset);
    expect(page.nextOffset === undefined || page.nextOffset > offset).toBe(true);
    pages.push(page);
    offset = page.nextOffset;
  }
  return pages.map((page) => page.text).join('');
}

describe('reading on in a stored result', () => {
  it('has a name that every provider takes', () => {
    expect(toWireName(readResults.name)).toBe('results__read');
  });

  it('gives the first page by default, with the start of the next', async () => {
    const text = 'x'.repeat(20_000);
    expect(await read<Page>(text, {})).toEqual({
      offset: 0,
      totalBytes: 20_000,
      text: 'x'.repeat(16_384),
      nextOffset: 16_384,
    });
    expect(await read<Page>(text, { offset: 16_384 })).toEqual({
      offset: 16_384,
      totalBytes: 20_000,
      text: 'x'.repeat(3_616),
    });
  });

  it('gives an empty page beyond the end', async () => {
    expect(await read<Page>('abc', { offset: 99 })).toEqual({
      offset: 99,
      totalBytes: 3,
      text: '',
    });
  });

  it('begins with a whole character, at any offset', async () => {
    expect(await read<Page>('漢字', { offset: 1 })).toMatchObject({ offset: 3, text: '字' });
  });

  it('gives every text back from its pages, with any content and at any page size', {
    ...promise('G271'),
  }, async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 16, max: 64 }), async (value, limit) => {
        expect(await allPages(value, limit)).toBe(Buffer.from(value).toString());
      }),
      { numRuns: 200 },
    );
  });

  it('finds the places of a text, to the letter, with the text around them', async () => {
    const text = `${'a'.repeat(1_000)}needle.*${'b'.repeat(1_000)}Needle.*needle.*`;
    const found = await read<Places>(text, { find: 'needle.*' });
    expect(found.places.map(({ offset }) => offset)).toEqual([1_000, 2_016]);
    expect(found.places[0]?.text).toBe(`${'a'.repeat(160)}needle.*${'b'.repeat(160)}`);
    expect(found.nextOffset).toBeUndefined();
    expect(await read<Places>(text, { find: 'absent' })).toEqual({ totalBytes: 2_024, places: [] });
  });

  it('searches from an offset on, and returns where to continue when there are many places', async () => {
    const text = 'ab'.repeat(50);
    const first = await read<Places>(text, { find: 'ab' });
    expect(first.places).toHaveLength(20);
    expect(first.nextOffset).toBe(40);
    const second = await read<Places>(text, { find: 'ab', offset: 40 });
    expect(second.places[0]?.offset).toBe(40);
  });

  it('cuts no character in two around a place', async () => {
    const found = await read<Places>(`${'漢'.repeat(300)}x${'字'.repeat(300)}`, { find: 'x' });
    expect(found.places[0]?.text).toMatch(/^漢+x字+$/);
  });

  it('reports to the model that there is no such result, or that none can be read now', async () => {
    const run = readResults.run;
    const unknown = await run?.({ id: 'other' }, contextOver('a'));
    expect(unknown).toMatchObject({
      message: 'This conversation has no stored result with id "other"',
    });
    const quiet = (): void => undefined;
    const down = {
      storedResults: { read: () => Promise.reject(new Error('/var/log.db is gone')) },
      logger: { warn: quiet },
    } as unknown as ToolContext;
    const refused = await run?.({ id: 'known' }, down);
    expect(refused).toMatchObject({
      message: 'Stored results cannot be read now; try again later',
    });
  });

  it.each([
    { id: 'known', limit: 1 },
    { id: 'known', limit: 1e6 },
    { id: 'known', offset: -1 },
    { id: 'known', find: '' },
    { offset: 3 },
  ])('refuses %j before it reads', async (input) => {
    expect((await validate(readResults.input, input)).ok).toBe(false);
  });
});
