/** The contents of the published package according to npm, and their use in a project. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import semver from 'semver';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { promise } from '../support/promise.js';
import { temporaryFolder } from '../support/temporary.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MIB = 1024 * 1024;

interface Packed {
  /** Bytes of the archive, and of its files. */
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

interface Locked {
  readonly dev?: true;
  readonly devOptional?: true;
  readonly link?: true;
  readonly bin?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

/** Asked once: npm reads every file for it. */
const packed = once((): Packed => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
  const said: unknown = JSON.parse(execFileSync('npm', args, options));
  // A list, or, in newer versions of npm, an object by the name of the package.
  const [found] = Object.values(said as Record<string, Packed>);
  if (found === undefined) throw new Error('npm pack described no package');
  return found;
});

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

function packedPaths(): readonly string[] {
  return packed().files.map(({ path }) => path);
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
}

it('the package holds the product, its documents and examples: no tests, benchmarks or build records', () => {
  const paths = packedPaths();
  for (const path of ['temporal-dev.sh', 'src/index.ts', 'docs/getting-started.md'])
    expect(paths).toContain(path);
  expect(paths.filter((path) => /^(dist\/)?((test|bench)\/|\.)/.test(path))).toEqual([
    'bench/BENCHMARKS.md',
  ]);
  // As source: the compiled ones run in this repository only.
  expect(paths.filter((path) => path.startsWith('dist/examples/'))).toEqual([]);
  expect(paths).toContain('examples/getting-started/server.ts');
});

it('the package stays as small as it is: documents and examples are less than a tenth of it', () => {
  const { size, unpackedSize } = packed();
  expect(size / MIB).toBeLessThan(4.5);
  expect(unpackedSize / MIB).toBeLessThan(20);
});

it('every relative link of its documents leads to a file or folder of the package', () => {
  const paths = new Set(packedPaths());
  const folders = new Set([...paths].flatMap((path) => foldersAbove(path)));
  const documents = [...paths].filter((path) => path.endsWith('.md'));
  expect(documents.length).toBeGreaterThan(50);
  const broken = documents.flatMap((document) =>
    relativeLinks(readFileSync(join(ROOT, document), 'utf8')).flatMap((link) => {
      const target = posix.join(posix.dirname(document), link).replace(/\/$/, '');
      return paths.has(target) || folders.has(target) ? [] : [`${document}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});

function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Paths of links to other files, without code and without anchors. */
function relativeLinks(markdown: string): readonly string[] {
  const prose = markdown
    .replaceAll(/^\s*(```|~~~)[\s\S]*?^\s*\1/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  const links = [
    ...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\s*\[[^\]]+\]:\s+(\S+)/gm),
  ];
  return links.flatMap(([, inline, reference]) => {
    const [path = ''] = (inline ?? reference ?? '').split('#');
    return path === '' || /^[a-z][a-z+.-]*:/i.test(path) ? [] : [decodeURIComponent(path)];
  });
}

/** The packages that npm installs with the package and its peers, directly or indirectly, by path in the lock file. */
function dependenciesOfUsers(): ReadonlyMap<string, Locked> {
  const { packages } = readJson('package-lock.json') as Lock;
  const found = new Map<string, Locked>();
  const visit = (path: string): void => {
    const { dependencies, optionalDependencies, ...rest } = packages[path] ?? {};
    const peers = Object.keys(rest.peerDependencies ?? {}).filter(
      (name) => rest.peerDependenciesMeta?.[name]?.optional !== true,
    );
    const own = Object.keys({ ...dependencies, ...optionalDependencies });
    for (const name of [...own, ...peers]) {
      const at = resolved(packages, { from: path, name });
      const entry = at === undefined ? undefined : packages[at];
      if (at === undefined || entry === undefined || found.has(at)) continue;
      found.set(at, entry);
      visit(at);
    }
  };
  visit('');
  return found;
}

/** Resolves like Node: in the package's own `node_modules`, then in that of every folder above. */
function resolved(
  packages: Lock['packages'],
  { from, name }: { readonly from: string; readonly name: string },
): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('node_modules/'))) {
    folder = folder.replace(/\/$/, '');
    const at = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, at)) return at;
    if (folder === '') return undefined;
  }
}

it('users of the package get no Node binary, which is a dependency of this repository only', {
  ...promise('G264'),
}, () => {
  const { packages } = readJson('package-lock.json') as Lock;
  const carriesNode = ([, { bin }]: readonly [string, Locked]): boolean =>
    bin !== undefined && Object.hasOwn(bin, 'node');
  expect(Object.entries(packages).filter(carriesNode)).not.toEqual([]);
  const given = [...dependenciesOfUsers()];
  expect(given.length).toBeGreaterThan(100);
  expect(given.filter(carriesNode)).toEqual([]);
});

it('every dependency supports the oldest Node that the package supports', {
  ...promise('G264'),
}, () => {
  const { engines } = readJson('package.json') as Locked;
  const oldest = /^>=([\d.]+)$/.exec(engines?.node ?? '')?.[1] ?? '';
  const needy = [...dependenciesOfUsers()].filter(
    ([, { engines: needs }]) => !semver.satisfies(semver.coerce(oldest) ?? '', needs?.node ?? '*'),
  );
  expect(needy.map(([path, { engines: needs }]) => [path, needs?.node])).toEqual([]);
});

/** A project with the package and its dependencies, and nothing else. */
function installed(manifest: Manifest): string {
  const folder = temporaryFolder();
  const into = (path: string): string => {
    const target = join(folder, 'node_modules', path);
    mkdirSync(dirname(target), { recursive: true });
    return target;
  };
  for (const path of packedPaths())
    if (path.endsWith('.d.ts') || path === 'package.json')
      cpSync(join(ROOT, path), into(join('colloquy', path)));
  const names = [...dependenciesOfUsers().keys()].flatMap((path) => {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    // Packages for other platforms are not installed.
    return name !== undefined && existsSync(join(ROOT, path)) ? [name] : [];
  });
  for (const name of new Set([...names, ...Object.keys(manifest.peerDependencies)]))
    symlinkSync(join(ROOT, 'node_modules', name), into(name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/**
 * The errors of TypeScript in the user's file and in the declarations of the package, without those of other packages.
 */
function saidOf(folder: string, file: string): readonly string[] {
  const program = programOf(file);
  const own = join(folder, 'node_modules/colloquy/');
  const files = program
    .getSourceFiles()
    .filter(({ fileName }) => fileName === file || fileName.startsWith(own));
  expect(files.length, 'declarations, which the build makes').toBeGreaterThan(100);
  return files.flatMap((checked) =>
    program.getSemanticDiagnostics(checked).map(({ messageText }) => {
      const place = checked.fileName.slice(folder.length + 1);
      return `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    }),
  );
}

/** A strict project of one file, which is not written. */
function programOf(file: string): ts.Program {
  return ts.createProgram([file], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    declaration: true,
    noEmit: true,
    skipLibCheck: false,
    // Without this, the packages would be resolved from their link targets, beside all others.
    preserveSymlinks: true,
    types: [],
  });
}

it('a strict TypeScript project with only the package has the types of every entry point', {
  ...promise('G263'),
}, () => {
  const manifest = readJson('package.json') as Manifest;
  const entries = Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === 'string' ? [] : [entry],
  );
  const folder = installed(manifest);
  const file = join(folder, 'user.ts');
  const imports = entries.map((entry, at) => {
    return `export * as entry${at} from 'colloquy${entry.slice(1)}';`;
  });
  writeFileSync(
    file,
    `${imports.join('\n')}
import { type AppDeps, createApp } from 'colloquy/http';
export function build(deps: AppDeps): void {
  const app = createApp({
    ...deps,
    identify: (request) => {
      // @ts-expect-error A request is no any.
      request.nowhere();
      const tenants = [request.get('x-tenant') ?? 'default'];
      return { tenants, actor: { id: 'ann' }, verified: true, rights: ['read'] };
    },
  });
  // @ts-expect-error Nor is the app.
  app.nowhere();
  app.listen(0);
}
`,
  );
  expect(saidOf(folder, file)).toEqual([]);
});

it('a user may export what the define functions return: their declarations name types of the entry points only', () => {
  const folder = installed(readJson('package.json') as Manifest);
  const file = join(folder, 'agents.ts');
  writeFileSync(
    file,
    `import { checkTools, defineAgent, defineTool, httpTool, initColloquy, jsonSchema, manifestOf, mcpServer, openaiModel,
  outputOf, priceTable, readResults, secret, withFiles } from 'colloquy';
import { z } from 'zod';
export const bound = initColloquy<{ services: { readonly rate: number } }>();
export const { defineTool: boundTool, httpTool: boundHttp, defineAgent: boundAgent, mcpServer: boundServer } = bound;
const input = z.object({ city: z.string() });
export const weather = boundTool({
  name: 'weather', description: 'Weather.', input, output: z.object({ degrees: z.number() }),
  run: ({ city }, ctx) => ({ degrees: city.length * ctx.services.rate }),
});
export const cart = defineTool({ name: 'cart', description: 'Cart.', executor: 'client', input, output: jsonSchema<string[]>({}) });
export const ask = defineTool({ name: 'ask', description: 'Asks.', executor: 'human', input, output: z.string() });
export const picture = defineTool({ name: 'picture', description: 'Picture.', input, run: () => withFiles('x', []) });
export const key = secret('ORDERS_TOKEN');
export const orders = httpTool({ name: 'orders', description: 'Orders.', input, method: 'GET', url: 'https://a.test/{city}', headers: { authorization: key } });
export const github = mcpServer({ name: 'github', url: 'https://mcp.a.test/mcp' });
export const prices = priceTable({});
export const model = openaiModel('gpt-5.1');
export const support = boundAgent({
  name: 'support', model, instructions: 'Help.', tools: [weather, cart, ask, picture, orders, readResults],
  output: z.object({ text: z.string() }),
});
export const plain = defineAgent({ name: 'plain', model, instructions: 'Help.', tools: [cart], mcpServers: [github] });
export const findings = checkTools(support);
export const manifest = manifestOf(plain);
export const readOutput = (result: Parameters<typeof outputOf>[1]) => outputOf(support, result);
`,
  );
  const program = programOf(file);
  const source = program.getSourceFile(file);
  const texts = [
    ...program.getSemanticDiagnostics(source),
    ...program.getDeclarationDiagnostics(source),
  ].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  expect(texts).toEqual([]);
});
