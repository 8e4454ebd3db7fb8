/**
 * The third protection of the sandbox: the real contents of the workflow bundle, and the modules that the root entry
 * loads.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleFromSource } from '../support/engine/workflow-bundle.js';
import { patient } from '../support/patience.js';
import { promise } from '../support/promise.js';

/** The modules that a process loads for an import: URLs of ES modules, file names of the others. */
function loadedFor(name: string): readonly string[] {
  const program = `
    const { createRequire, registerHooks } = await import('node:module');
    const modules = [];
    registerHooks({ load: (url, context, next) => { modules.push(url); return next(url, context); } });
    await import(${JSON.stringify(name)});
    console.log(JSON.stringify([...modules, ...Object.keys(createRequire(import.meta.url).cache)]));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    ...{ cwd: at(''), encoding: 'utf8' },
  });
  return JSON.parse(output) as string[];
}

interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** The source map that a bundle carries. */
function mapOf(code: string): SourceMap {
  const pattern = /sourceMappingURL=data:application\/json;[^,]*,([A-Za-z0-9+/=]+)\s*$/;
  const [, map] = pattern.exec(code) ?? [];
  expect(map, 'the bundle carries its source map').toBeDefined();
  return JSON.parse(Buffer.from(map ?? '', 'base64').toString('utf8')) as SourceMap;
}

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
describe('the workflow bundle', () => {
  let code = '';
  let sources: readonly string[] = [];

  beforeAll(async () => {
    code = await bundleFromSource();
    ({ sources } = mapOf(code));
  }, patient(60_000));

  it('holds these packages and no other: no zod, no openai, no Node', promise('G269'), () => {
    const packages = sources.flatMap((source) => {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(source)?.[1];
      return name === undefined ? [] : [name];
    });
    expect([...new Set(packages)].sort()).toEqual([
      '@temporalio/common',
      '@temporalio/workflow',
      'long',
      'ms',
      'nexus-rpc',
    ]);
  });

  it('holds these folders of the engine and no other, so it cannot contain user code', {
    ...promise('G269', 'X9'),
  }, () => {
    const folders = sources.flatMap((source) => {
      const name = /\/src\/([a-z-]+)\/[^.]+\.ts$/.exec(source)?.[1];
      return name === undefined || source.includes('node_modules') ? [] : [name];
    });
    expect([...new Set(folders)].sort()).toEqual(['core', 'json-schema', 'protocol', 'workflows']);
  });

  it('is shipped with the map that stack traces need, without the texts of its sources', () => {
    const shipped = mapOf(readFileSync(at('dist/workflow-bundle.js'), 'utf8'));
    const files = ['workflows/conversation.ts', 'core/machine/machine.ts'];
    expect(shipped.sources).toEqual(
      expect.arrayContaining(files.map((file) => `colloquy/src/${file}`)),
    );
    // The folder of the machine that has built it is not in it.
    expect(shipped.sources.filter((source) => source.startsWith('/'))).toEqual([]);
    expect(shipped.mappings.length).toBeGreaterThan(100_000);
    expect(shipped).not.toHaveProperty('sourcesContent');
  });

  it('stays small, because every worker parses it at its start', () => {
    const shipped = readFileSync(at('dist/workflow-bundle.js'), 'utf8');
    const withoutMap = shipped.slice(0, shipped.lastIndexOf('//# sourceMappingURL'));
    // The engine's part by the sizes of its modules: the code of webpack between them grows with the length of their
    // paths.
    const modules = new Map(
      [...withoutMap.matchAll(/\n\/\*{3}\/ "(\.\/dist\/[^"?]+)"/g)].map(([, id = '']) => [
        id,
        statSync(at(id)).size,
      ]),
    );
    const own = [...modules.values()].reduce((sum, size) => sum + size, 0);
    expect(modules.size).toBeGreaterThan(100);
    // The bundle grows with the features of conversations; an unwanted package is far larger.
    expect(own / 1024).toBeLessThan(580);
    expect(Buffer.byteLength(withoutMap) / 1024).toBeLessThan(1_370);
  });
});

describe('the root entry', () => {
  it('loads no native module, and no client of models, HTTP or MCP before its first use', () => {
    const packages = loadedFor(at('dist/index.js'));
    expect(packages.filter((file) => file.endsWith('.node'))).toEqual([]);
    expect(packages.some((file) => file.includes('node_modules/zod'))).toBe(true);
    expect(
      packages.filter((file) =>
        /node_modules\/(?:@temporalio|@modelcontextprotocol|openai|express|undici|ipaddr)/.test(
          file,
        ),
      ),
    ).toEqual([]);
  });

  it('exports these names: adding one extends the public surface', async () => {
    const names = Object.keys((await import(at('dist/index.js'))) as object);
    expect(names.sort()).toEqual([
      'DefinitionError',
      'ServiceError',
      'Services',
      'ToolError',
      'ToolRetry',
      'UnreadableAgent',
      'agentTool',
      'checkTools',
      'createServices',
      'defineAgent',
      'defineConnection',
      'definePlugin',
      'defineSkill',
      'defineTool',
      'handoffTool',
      'httpTool',
      'initColloquy',
      'isPendingOf',
      'jsonSchema',
      'manifestOf',
      'mcpServer',
      'modes',
      'openaiModel',
      'outputOf',
      'perTenant',
      'priceTable',
      'provide',
      'readResults',
      'secret',
      'serviceName',
      'skills',
      'toolError',
      'triggerTools',
      'withFiles',
    ]);
  });
});
