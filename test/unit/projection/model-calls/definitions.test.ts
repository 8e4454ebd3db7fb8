/** Definitions of agents beside the event log: kept once, by owner, and in bounds. */
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  definitionFinder,
  definitionKeeper,
  MAX_DEFINITION_CHARS,
  MAX_DEFINITIONS,
} from '../../../../src/projection/model-calls/definitions.js';
import type { ModelDefinition } from '../../../../src/protocol/model/definitions.js';
import type { DocumentStore } from '../../../../src/store/ports/documents/documents.js';
import { openSqliteStores } from '../../../../src/store/sqlite/event-log.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

const definitionOf = (system: string): ModelDefinition => ({ system, tools: [] });

/** A keeper whose writes can be awaited, and counted. */
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
  const keep = definitionKeeper(store, { logger });
  return { keep, find: definitionFinder(documents), documents, log, writes, lines };
}

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

  it('is written once by a process, and once more after an error', async () => {
    const { keep, find, log, writes, lines } = await setUp();
    for (let call = 0; call < 3; call += 1) keep({ agent: 'a', digest: '1' }, definitionOf('A'));
    await Promise.all(writes);
    expect(writes).toHaveLength(1);
    await log.close();
    keep({ agent: 'a', digest: '2' }, definitionOf('B'));
    await until('the error is logged', () => lines.at(-1));
    expect(lines).toEqual([expect.stringContaining('definition of agent "a" not kept')]);
    keep({ agent: 'a', digest: '2' }, definitionOf('B'));
    await until('it is tried again', () => lines[1]);
    await expect(find({ agent: 'a', digest: '1' })).rejects.toThrow();
  });

  it('goes when its agent has as many that are newer, and is not kept when it is too large', async () => {
    const { keep, find, lines } = await setUp();
    const at = (digest: string) => ({ agent: 'a', digest });
    for (let version = 1; version <= MAX_DEFINITIONS + 1; version += 1) {
      keep(at(`v${version}`), definitionOf(`${version}`));
      await until('it is kept', async () => await find(at(`v${version}`)));
    }
    expect(await find(at('v1'))).toBeUndefined();
    expect(await find(at('v2'))).toEqual(definitionOf('2'));
    keep(at('large'), definitionOf('x'.repeat(MAX_DEFINITION_CHARS)));
    await until('the reason is logged', () => lines[0]);
    expect(lines[0]).toContain('more than');
    expect(await find(at('large'))).toBeUndefined();
  });
});
