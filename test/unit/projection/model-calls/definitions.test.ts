/** Definitions of agents beside the event log: kept once, by owner, and in bounds. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  definitionFinder,
  definitionKeeper,
  MAX_DEFINITION_CHARS,
  MAX_DEFINITIONS,
  MAX_WRITTEN,
  RETRY_MS,
  REWRITE_MS,
} from '../../../../src/projection/model-calls/definitions.js';
import type { ModelDefinition } from '../../../../src/protocol/model/definitions.js';
import type { DocumentStore } from '../../../../src/store/ports/documents/documents.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

const definitionOf = (system: string): ModelDefinition => ({ system, tools: [] });

/** A keeper with a clock, whose writes can be awaited, and counted. */
async function setUp() {
  const { log, documents } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const writes: Promise<unknown>[] = [];
  const lines: string[] = [];
  const logger = { info: () => undefined, warn: (line: string) => lines.push(line) };
  const store: Pick<DocumentStore, 'list' | 'put' | 'delete'> = {
    list: async (...given) => await documents.list(...given),
    delete: async (...given) => await documents.delete(...given),
    put: async (...given) => {
      const write = documents.put(...given);
      writes.push(write);
      return await write;
    },
  };
  const clock = { nowMs: 1_000 };
  const keep = definitionKeeper(store, { logger, now: () => clock.nowMs });
  const find = definitionFinder(documents);
  /** Keeps versions of agent `a`, each with its name as the system prompt, one after the other. */
  const keepAll = async (digests: readonly string[]) => {
    for (const digest of digests) {
      keep({ agent: 'a', digest }, definitionOf(digest));
      await until('it is kept', async () => await find({ agent: 'a', digest }));
    }
  };
  return { keep, keepAll, find, documents, log, logger, writes, lines, clock };
}

const versions = (first: number, last: number) =>
  Array.from({ length: last + 1 - first }, (_, index) => `v${first + index}`);

describe('a definition of an agent', promise('G422'), () => {
  it('of an agent in code is found for every tenant, one of a document for its own alone', async () => {
    const { keep, find, documents } = await setUp();
    keep({ agent: 'a', digest: '1' }, definitionOf('in code'));
    keep({ tenant: 'acme', agent: 'a', digest: '2' }, definitionOf('of a document'));
    await until(
      'both are kept',
      async () => await find({ tenant: 'acme', agent: 'a', digest: '2' }),
    );
    expect(await find({ agent: 'a', digest: '1' })).toEqual(definitionOf('in code'));
    expect(await find({ tenant: 'beta', agent: 'a', digest: '2' })).toBeUndefined();
    expect(await find({ agent: 'a', digest: '2' })).toBeUndefined();
    expect(await find({ agent: 'b', digest: '1' })).toBeUndefined();
    await documents.removeOfTenant('acme');
    expect(await find({ tenant: 'acme', agent: 'a', digest: '2' })).toBeUndefined();
    expect(await find({ agent: 'a', digest: '1' })).toEqual(definitionOf('in code'));
  });

  it('is written once by a process, and once more a minute after an error', async () => {
    const { keep, find, log, writes, lines, clock } = await setUp();
    for (let call = 0; call < 3; call += 1) keep({ agent: 'a', digest: '1' }, definitionOf('A'));
    await Promise.all(writes);
    expect(writes).toHaveLength(1);
    await log.close();
    keep({ agent: 'a', digest: '2' }, definitionOf('B'));
    await until('the error is logged', () => lines.at(-1));
    expect(lines).toEqual([expect.stringContaining('definition of agent "a" not kept')]);
    for (const [afterMs, tries] of [
      [RETRY_MS, 2],
      [1, 3],
    ] as const) {
      clock.nowMs += afterMs;
      keep({ agent: 'a', digest: '2' }, definitionOf('B'));
      expect(writes).toHaveLength(tries);
    }
    await until('it is tried again', () => lines[1]);
    await expect(find({ agent: 'a', digest: '1' })).rejects.toThrow();
  });

  it('goes when its agent has as many that are newer, and is not kept when it is too large', async () => {
    const { keep, keepAll, find, lines } = await setUp();
    const at = (digest: string) => ({ agent: 'a', digest });
    await keepAll(versions(1, MAX_DEFINITIONS + 1));
    expect(await find(at('v1'))).toBeUndefined();
    expect(await find(at('v2'))).toEqual(definitionOf('v2'));
    keep(at('large'), definitionOf('x'.repeat(MAX_DEFINITION_CHARS)));
    await until('the reason is logged', () => lines[0]);
    expect(lines[0]).toContain('more than');
    expect(await find(at('large'))).toBeUndefined();
  });

  it('that is too large is logged once an hour, however often it is used', async () => {
    const { keep, find, lines, writes, clock } = await setUp();
    const use = async () => {
      for (let call = 0; call < 3; call += 1) {
        keep({ agent: 'a', digest: 'large' }, definitionOf('x'.repeat(MAX_DEFINITION_CHARS)));
        await find({ agent: 'a', digest: 'large' });
      }
      return lines.length;
    };
    expect(await use()).toBe(1);
    clock.nowMs += REWRITE_MS + 1;
    expect(await use()).toBe(2);
    expect(writes).toEqual([]);
  });

  it('outlives newer ones while it is used, and is kept again when it is used once more', async () => {
    const { keep, keepAll, find, documents, clock, writes } = await setUp();
    const at = (digest: string) => ({ agent: 'a', digest });
    await keepAll(versions(1, MAX_DEFINITIONS));
    clock.nowMs += REWRITE_MS + 1;
    keep(at('v1'), definitionOf('v1'));
    await Promise.all(writes);
    const key = { tenant: '', kind: 'agents.definitions', owner: 'a' };
    const stored = await documents.list(key, MAX_DEFINITIONS);
    expect(Math.max(...stored.map(({ version }) => version))).toBe(
      stored.find(({ name }) => name === 'v1')?.version,
    );
    await keepAll(versions(MAX_DEFINITIONS + 1, 2 * MAX_DEFINITIONS - 1));
    expect(await find(at('v1'))).toEqual(definitionOf('v1'));
    expect(await find(at('v2'))).toBeUndefined();
    await keepAll(['v2']);
    expect(await find(at('v1'))).toBeUndefined();
  });

  it('is kept again for a tenant that has been deleted and is set up again', async () => {
    const { keep, find, documents, clock, writes } = await setUp();
    const key = { tenant: 'acme', agent: 'a', digest: '1' };
    keep(key, definitionOf('A'));
    await Promise.all(writes);
    await documents.removeOfTenant('acme');
    clock.nowMs += REWRITE_MS + 1;
    keep(key, definitionOf('A'));
    await Promise.all(writes);
    expect(await find(key)).toEqual(definitionOf('A'));
  });

  it('is kept beside those of another worker, which takes the last place, a minute later', async () => {
    const { keepAll, find, documents, logger, lines, clock } = await setUp();
    const at = (digest: string) => ({ agent: 'a', digest });
    await keepAll(versions(1, MAX_DEFINITIONS));
    const other = definitionKeeper(
      {
        put: async (...given) => await documents.put(...given),
        delete: async (...given) => await documents.delete(...given),
        list: async (...given) => {
          const seen = await documents.list(...given);
          if (lines.length === 0) await keepAll(['first']);
          return seen;
        },
      },
      { logger, now: () => clock.nowMs },
    );
    other(at('second'), definitionOf('second'));
    await until('the reason is logged', () => lines[0]);
    expect(lines[0]).toContain('at the same time');
    expect(await find(at('second'))).toBeUndefined();
    clock.nowMs += RETRY_MS + 1;
    other(at('second'), definitionOf('second'));
    await until('it is kept', async () => await find(at('second')));
    expect(await find(at('first'))).toEqual(definitionOf('first'));
    expect(await find(at('v2'))).toBeUndefined();
    expect(await find(at('v3'))).toEqual(definitionOf('v3'));
  });

  it('takes the place that another worker has freed, and no second one', async () => {
    const { keepAll, find, documents, logger, lines } = await setUp();
    const at = (digest: string) => ({ agent: 'a', digest });
    const key = { tenant: '', kind: 'agents.definitions', owner: 'a' };
    await keepAll(versions(1, MAX_DEFINITIONS));
    const other = definitionKeeper(
      {
        put: async (...given) => await documents.put(...given),
        delete: async (...given) => await documents.delete(...given),
        list: async (...given) => {
          await documents.delete(key, ['v1', 'v2', 'v3']);
          return await documents.list(...given);
        },
      },
      { logger },
    );
    other(at('new'), definitionOf('new'));
    await until('it is kept', async () => await find(at('new')));
    expect(await documents.list(key, MAX_DEFINITIONS)).toHaveLength(MAX_DEFINITIONS - 2);
    expect(lines).toEqual([]);
  });

  it('is remembered among a bounded number of others', () => {
    const written: string[] = [];
    const store: Pick<DocumentStore, 'list' | 'put' | 'delete'> = {
      ...{ list: () => Promise.resolve([]), delete: () => Promise.resolve([]) },
      put: (_, { documents }) => {
        written.push(...documents.map(({ name }) => name));
        return Promise.resolve([]);
      },
    };
    const logger = { info: () => undefined, warn: () => undefined };
    const keep = definitionKeeper(store, { logger });
    const use = (digest: number) => keep({ agent: 'a', digest: `${digest}` }, definitionOf('A'));
    for (let digest = 0; digest <= MAX_WRITTEN; digest += 1) use(digest);
    use(MAX_WRITTEN);
    expect(written).toHaveLength(MAX_WRITTEN + 1);
    use(0);
    expect(written).toHaveLength(MAX_WRITTEN + 2);
  });
});
