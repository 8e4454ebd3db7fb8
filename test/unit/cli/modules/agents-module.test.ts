/** The module from which the command line serves agents. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAgents } from '../../../../src/cli/process/agents-module.js';
import { promise } from '../../../support/promise.js';

/** As `defineAgent` marks them: the module is written without imports, so that it loads from any folder. */
const AGENTS = `const agent = (name) => ({ kind: 'agent', name });
const support = agent('support');
const sales = agent('sales');
`;

let folder: string;
let written = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'colloquy-agents-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function moduleWith(text: string): Promise<string> {
  written += 1;
  const file = join(folder, `agents-${written}.mjs`);
  await writeFile(file, AGENTS + text);
  return file;
}

async function namesIn(text: string): Promise<readonly string[]> {
  const { agents } = await loadAgents(await moduleWith(text));
  return agents.map(({ name }) => name).sort();
}

describe('a module of agents', () => {
  it.each([
    ['exports of their own', 'export { support, sales };'],
    ['an array under any name', 'export const team = [support, sales];'],
    ['an array as the default export', 'export default [support, sales];'],
    ['an array beside an agent of it', 'export { support }; export const all = [support, sales];'],
  ])('serves the agents of %s, each once', promise('G293'), async (_title, text) => {
    expect(await namesIn(text)).toEqual(['sales', 'support']);
  });

  it('may export arrays that hold no agent, and services that do', async () => {
    const text = 'export { support }; export const days = [1, 2]; export const services = [sales];';
    expect(await namesIn(text)).toEqual(['support']);
  });

  it('may export a catalog, beside agents or in place of them, and only one', async () => {
    const catalog = (name: string) => `export const ${name} = { kind: 'agent_catalog' };`;
    const { agents, catalog: found } = await loadAgents(await moduleWith(catalog('own')));
    expect([agents, found]).toEqual([[], { kind: 'agent_catalog' }]);
    expect(await namesIn(`export { support }; ${catalog('own')}`)).toEqual(['support']);
    const file = await moduleWith(catalog('one') + catalog('two'));
    await expect(loadAgents(file)).rejects.toThrow(`${file} exports 2 catalogs of agents`);
  });

  it('may export a function that finds secrets, and nothing else under that name', async () => {
    const given = await moduleWith(
      'export { support }; export const secrets = ({ name }) => name;',
    );
    const { secrets } = await loadAgents(given);
    expect(await secrets?.({ name: 'token', tenant: 'a' })).toBe('token');
    const file = await moduleWith('export { support }; export const secrets = { token: "x" };');
    await expect(loadAgents(file)).rejects.toThrow(
      `secrets of ${file} must be a function that finds a secret by {name, tenant, user}`,
    );
  });

  it('is refused where an array of agents holds another value, by its name and place', {
    ...promise('G293'),
  }, async () => {
    const file = await moduleWith('export const agents = [support, undefined];');
    await expect(loadAgents(file)).rejects.toThrow(
      `${file}: agents[1] is not an agent (undefined)`,
    );
  });

  it('is refused where two agents of its arrays have one name', async () => {
    const file = await moduleWith("export const agents = [support, agent('support')];");
    await expect(loadAgents(file)).rejects.toThrow('exports two agents named "support"');
  });

  it('is refused where it exports an empty array only', async () => {
    const file = await moduleWith('export const agents = [];');
    await expect(loadAgents(file)).rejects.toThrow('exports no agent');
  });
});
