/**
 * Runs tests that were exported from conversations, each as a file for vitest beside the agents: as it stands it
 * passes; changed in its gate, in the result of a tool or in the final text it fails.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FIXTURE = fileURLToPath(new URL('../e2e/fixtures/juggler.ts', import.meta.url));
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
/** One in so many is changed, in each way that it allows. */
const SAMPLED = 4;

/** The agents without their gates. */
const UNGATED = `
import * as agents from ${JSON.stringify(FIXTURE)};
const open = ({ policy, ...tool }) => ({ ...tool, approval: { needed: false } });
const ungated = (agent) => ({ ...agent, tools: agent.tools.map(open) });
export const queueing = ungated(agents.queueing);
export const steering = ungated(agents.steering);
export const interrupting = ungated(agents.interrupting);
export const rejecting = ungated(agents.rejecting);
export const delegating = ungated(agents.delegating);
`;

/**
 * Texts of tests by the ids of their conversations; the findings name those that end in another way than they must.
 * @param keep Folder for these tests.
 */
export async function runExported(
  tests: ReadonlyMap<string, string>,
  keep: string | undefined,
): Promise<{ readonly changed: number; readonly findings: readonly string[] }> {
  await mkdir(join(ROOT, '.colloquy'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.colloquy', 'exported-'));
  try {
    await writeFile(join(folder, 'agents.js'), `export * from ${JSON.stringify(FIXTURE)};\n`);
    await writeFile(join(folder, 'ungated.js'), UNGATED);
    const wanted = new Map<string, { readonly passes: boolean; readonly text: string }>();
    for (const [index, [id, text]] of [...tests].entries()) {
      wanted.set(id, { passes: true, text });
      if (index % SAMPLED !== 0) continue;
      for (const [what, changed] of changedOf(text))
        wanted.set(`${id}-${what}`, { passes: false, text: changed });
    }
    for (const [name, { text }] of wanted) await writeFile(join(folder, `${name}.test.js`), text);
    const ended = await vitestIn(folder);
    const findings: string[] = [];
    for (const [name, { passes, text }] of wanted) {
      const end = ended.get(`${name}.test.js`);
      if (end?.passed === passes) continue;
      findings.push(`${name} ${passes ? 'fails' : 'passes'}: ${end?.message ?? 'it did not run'}`);
      if (keep === undefined) continue;
      await mkdir(keep, { recursive: true });
      await writeFile(join(keep, `${name}.test.js`), text);
    }
    return { changed: wanted.size - tests.size, findings };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The test with one change each; a change that finds no place in it is left out. */
function changedOf(text: string): readonly (readonly [string, string])[] {
  const hasGate = /expect\(waiting\(\)\)\.toEqual\(\[.*? approval"/.test(text);
  const gate = hasGate ? text.replace('from "./agents.js"', 'from "./ungated.js"') : text;
  const result = text.replace(/^( {2}const recorded = .*?)"result":"[^"]*"/m, '$1"result":"other"');
  const said = text.replace(/("text":")([^"]*"\},\n {2}\]\);\n\}\);)/, '$1Changed. $2');
  const changes = [['gate', gate] as const, ['result', result] as const, ['text', said] as const];
  return changes.filter(([, changed]) => changed !== text);
}

interface End {
  readonly passed: boolean;
  readonly message: string;
}

async function vitestIn(folder: string): Promise<ReadonlyMap<string, End>> {
  const config = join(folder, 'vitest.config.js');
  await writeFile(config, 'export default { test: { isolate: false, maxWorkers: 1 } };\n');
  const output = join(folder, 'ended.json');
  const args = [
    'run',
    '--config',
    config,
    '--root',
    folder,
    '--reporter=json',
    '--outputFile',
    output,
  ];
  await new Promise<void>((resolve, reject) => {
    const child = spawn(process.execPath, [VITEST, ...args], { stdio: 'ignore', cwd: folder });
    child.once('error', reject);
    child.once('exit', () => resolve());
  });
  const { testResults } = JSON.parse(await readFile(output, 'utf8')) as {
    readonly testResults: readonly {
      readonly name: string;
      readonly status: string;
      readonly message: string;
      readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
    }[];
  };
  return new Map(
    testResults.map(({ name, status, message, assertionResults }) => {
      const messages = assertionResults.flatMap(({ failureMessages }) => failureMessages);
      const said = [message, ...messages].join('\n').slice(0, 1_500);
      return [name.split('/').at(-1) ?? '', { passed: status === 'passed', message: said }];
    }),
  );
}
