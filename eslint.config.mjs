import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * The allowed imports of each folder of src/. `schema` applies to `*.schema.ts` files only, `only` and `ownIn` to the
 * sub-folder of that name. A package includes its sub-paths; `node:` includes every built-in of Node. AGENTS.md has the
 * same table.
 */
export const IMPORTS = {
  protocol: { own: [], packages: ['ms'], schema: ['zod'] },
  'json-schema': { own: ['protocol'], packages: [], schema: ['zod', 're2js'] },
  net: { own: [], packages: ['node:'], only: { guarded: ['undici', 'ipaddr.js'] } },
  core: { own: ['protocol', 'json-schema'], packages: [] },
  define: { own: ['protocol', 'json-schema'], packages: ['zod'] },
  workflows: {
    own: ['protocol', 'core'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  model: {
    own: ['protocol', 'net'],
    packages: ['openai', '@ai-sdk/provider', 'gpt-tokenizer', 'node:'],
  },
  tools: {
    own: ['protocol', 'json-schema', 'net', 'define', 'core'],
    packages: ['zod', 'node:'],
    only: {
      http: ['undici', 'lru-cache'],
      mcp: ['@modelcontextprotocol/client', 'lru-cache'],
    },
  },
  store: { own: ['protocol', 'core'], packages: ['node:', 'pg', 'node-pg-migrate'] },
  webhooks: { own: ['protocol', 'net', 'store'], packages: ['undici', 'node:'] },
  spaces: {
    own: ['protocol', 'core', 'define', 'store', 'client', 'projection'],
    packages: ['node:'],
    only: { plugin: ['zod'] },
  },
  client: {
    own: ['protocol', 'json-schema'],
    packages: [
      ...['@temporalio/client', '@temporalio/common', '@temporalio/envconfig'],
      ...['@temporalio/proto', 'lru-cache', 'node:'],
    ],
  },
  projection: {
    own: ['protocol', 'core', 'store', 'client'],
    packages: ['@temporalio/client', '@temporalio/common', 'lru-cache', 'p-limit', 'node:'],
  },
  logs: { own: ['protocol'], packages: ['pino', 'node:'] },
  watchdog: { own: ['logs'], packages: ['pino', 'node:'] },
  activities: {
    own: ['protocol', 'core', 'define', 'tools', 'model', 'projection', 'watchdog'],
    packages: ['@temporalio/activity', '@temporalio/common', 'lru-cache', 'node:'],
  },
  http: {
    own: ['protocol', 'net', 'client', 'projection', 'spaces', 'store', 'webhooks', 'watchdog'],
    packages: [
      ...['express', 'zod', 'helmet', 'jose', 'lru-cache', 'pino', 'prom-client'],
      ...['rate-limiter-flexible', 'node:'],
    ],
  },
  worker: {
    own: [
      ...['protocol', 'net', 'core', 'define', 'tools', 'model', 'activities', 'client'],
      ...['projection', 'spaces', 'store', 'webhooks', 'watchdog'],
    ],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/worker', 'node:'],
  },
  testing: {
    own: ['protocol', 'json-schema', 'core', 'define', 'tools', 'model'],
    packages: ['node:'],
  },
  compat: {
    own: ['protocol', 'define'],
    ownIn: { hsafa: ['spaces/plugin'] },
    packages: [],
    only: { hsafa: ['zod', 'express', 'lru-cache', 'node:'] },
  },
  browser: { own: ['protocol', 'net', 'core'], packages: ['eventsource-parser'] },
  react: { own: ['browser'], packages: ['react'] },
  'tool-worker': { own: ['protocol', 'net'], packages: ['eventsource-parser'] },
  engine: {
    own: ['protocol', 'define', 'client', 'store', 'projection', 'spaces', 'http', 'worker'],
    packages: ['@temporalio/client', 'express'],
  },
  cli: {
    own: [
      ...['protocol', 'net', 'core', 'define', 'model', 'tools', 'store', 'client', 'projection'],
      ...['activities', 'http', 'worker', 'webhooks', 'testing', 'logs', 'watchdog', 'engine'],
    ],
    packages: [
      'chokidar',
      'commander',
      'pino',
      'zod',
      '@temporalio/client',
      '@temporalio/worker',
      'node:',
    ],
  },
};

/**
 * The floors of the sub-folders in a folder: a sub-folder may import those on lower floors, and nothing of its parent.
 * The parent's own files may import all of them.
 */
const FLOORS = {
  activities: [['shared'], ['children', 'transcript', 'triggers'], ['tools'], ['model']],
  browser: [['forms', 'net'], ['operations', 'spaces', 'studio', 'view', 'worklist'], ['tools']],
  cli: [
    ['process', 'temporal'],
    ['data', 'terminal'],
    ['check', 'init', 'operate', 'serve'],
    ['conversations', 'webhooks'],
    ['chat', 'keys'],
    ['dev'],
  ],
  client: [
    ['history', 'pacing', 'ports', 'workers'],
    ['trouble'],
    ['api'],
    ['payloads'],
    ['temporal'],
    ['triggers', 'what-ifs'],
    ['deletion', 'reading'],
    ['messages'],
    ['calls'],
  ],
  core: [
    ['input', 'state'],
    ['children'],
    ['calls', 'context', 'plugins'],
    ['decide'],
    ['memory'],
    ['apply', 'judge', 'view'],
    ['events'],
    ['fork', 'verbs', 'what-if', 'work'],
    ['machine'],
    ['reads'],
  ],
  define: [
    ['checks', 'schemas'],
    ['services'],
    ['tool'],
    ['http', 'mcp', 'tool-rules'],
    ['plugin'],
    ['agent'],
  ],
  http: [
    ['limits', 'metrics', 'schemas'],
    ['identity'],
    ['openapi'],
    ['request'],
    ['routes'],
    ['operations', 'spaces', 'ui', 'worklist'],
  ],
  'compat/hsafa': [['documents'], ['routes']],
  'http/openapi': [['rows'], ['examples']],
  'http/routes': [['service']],
  react: [['words'], ['parts']],
  model: [['shared'], ['ai-sdk', 'openai', 'scripted']],
  projection: [
    ['source'],
    ['changes'],
    ['catch-up', 'duties', 'model-calls', 'worklist'],
    ['projector', 'reading'],
    ['exports', 'forks', 'operations'],
  ],
  protocol: [
    ['failures', 'limits'],
    ['values'],
    ['calls', 'forks'],
    ['conversation'],
    ['log', 'model', 'spaces', 'triggers'],
    ['workflow'],
  ],
  spaces: [['plugin', 'stream'], ['calls']],
  store: [['ports'], ['folder', 'live', 'plans'], ['postgres', 'sqlite']],
  'store/plans': [['service']],
  'store/ports': [['documents', 'service', 'spaces']],
  'store/postgres': [
    ['database', 'migrations'],
    ['documents', 'spaces', 'webhooks'],
    ['conversations', 'live'],
  ],
  'store/sqlite': [['database'], ['documents', 'keys', 'spaces', 'webhooks']],
  tools: [
    ['shared'],
    ['scope'],
    ['http', 'mcp', 'model-input', 'results'],
    ['run'],
    ['definition', 'plugins'],
    ['plan'],
  ],
  worker: [['load', 'sdk-workarounds', 'spaces', 'temporal', 'watch'], ['repair']],
  workflows: [['activities', 'log'], ['transcript'], ['driver', 'handlers'], ['sandbox']],
};

/** No folder of code has more files side by side: a reader can take in a dozen names at a glance. */
const MAX_FILES = 12;
for (const root of ['src', 'web', 'test', 'examples', 'scripts', 'bench'])
  for (const folder of [root, ...foldersUnder(root).map((path) => `${root}/${path}`)]) {
    const files = codeFilesIn(folder).length;
    if (files > MAX_FILES)
      throw new Error(
        `${folder} has ${files} files of code, more than ${MAX_FILES}: sort them into folders by subject`,
      );
  }

/** The only folder that may import files of Temporal's packages which those do not export. */
const SDK_INTERNALS = 'worker/sdk-workarounds';
const noDeepImport = {
  regex: '^@temporalio/[^/]+/.',
  message: `Only src/${SDK_INTERNALS} imports files inside of Temporal's packages: any release may move them.`,
};

/**
 * Folders whose code is in the sandbox: they may import only types from schema files, because values would pull in zod.
 */
const SANDBOXED = ['core', 'workflows'];

const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Named exports only: one name for one thing, everywhere.',
};
const noPlainError = {
  selector: "ThrowStatement > NewExpression[callee.name='Error']",
  message:
    'A plain Error makes the server retry the workflow task for ever. Throw ApplicationFailure.nonRetryable.',
};

const noLocalActivity = {
  selector: 'ImportSpecifier[imported.name=/LocalActivit/]',
  message:
    'No local activities: a query that comes with their task leaves a history that no replay agrees with (TMPRL1100).',
};

/** A fixed time limit would fail a test on a busy machine, even if the waits in it are scaled. */
const noBareTimeLimit = [
  'CallExpression[callee.name=/^(it|test)$/] > *.arguments:nth-child(3):not(CallExpression, ArrowFunctionExpression)',
  'CallExpression[callee.callee.object.name=/^(it|test)$/] > *.arguments:nth-child(3):not(CallExpression, ArrowFunctionExpression)',
  'CallExpression[callee.name=/^(before|after)(All|Each)$/] > *.arguments:nth-child(2):not(CallExpression)',
  'CallExpression[callee.name=/^(it|test)$/] > ObjectExpression > Property[key.name="timeout"] > *.value:not(CallExpression)',
  'CallExpression[callee.callee.object.name=/^(it|test)$/] > ObjectExpression > Property[key.name="timeout"] > *.value:not(CallExpression)',
  'CallExpression[callee.property.name="poll"] > ObjectExpression > Property[key.name="timeout"] > *.value:not(CallExpression)',
].map((selector) => ({
  selector,
  message:
    'Give tests time by patient(ms) of test/support/patience.ts, which knows of busy machines.',
}));

const imports = foldersUnder('src').flatMap((path) => {
  const [folder, subFolder] = path.split('/');
  const allowed = IMPORTS[folder];
  if (allowed === undefined) throw new Error(`src/${path} is not in the table of imports`);
  const own = [...allowed.own, ...(allowed.ownIn?.[subFolder] ?? [])];
  const rule = (packages) => ({
    '@typescript-eslint/no-restricted-imports': importRule(path, own, packages),
  });
  return [
    {
      files: [`src/${path}/*.{ts,tsx}`],
      rules: rule([...allowed.packages, ...(allowed.only?.[subFolder] ?? [])]),
    },
    ...(allowed.schema === undefined
      ? []
      : [{ files: [`src/${path}/*.schema.ts`], rules: rule(allowed.schema) }]),
  ];
});

/** Every folder below the root, by its relative path. */
function foldersUnder(root) {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name, parentPath }) => posix.relative(root, posix.join(parentPath, name)))
    .filter((path) => !path.split('/').includes('node_modules'));
}

/** The files of code directly in a folder. */
function codeFilesIn(folder) {
  return readdirSync(folder).filter((name) => /\.(?:m?[jt]sx?|py|sh)$/.test(name));
}

/** Folders in the same tree that the folder may import. */
function lowerFloors(path) {
  const parts = path.split('/');
  return parts.slice(1).flatMap((name, index) => {
    const parent = parts.slice(0, index + 1).join('/');
    const floors = FLOORS[parent] ?? [[name]];
    const own = floors.findIndex((floor) => floor.includes(name));
    if (own < 0) throw new Error(`src/${parent}/${name} is on no floor: add it to FLOORS`);
    return floors.slice(0, own).flatMap((floor) => floor.map((lower) => `${parent}/${lower}`));
  });
}

function importRule(path, own, packages) {
  const escape = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const named = packages.map((name) =>
    name.endsWith(':') ? escape(name) : `${escape(name)}(/|$)`,
  );
  const reachable = [...own, ...lowerFloors(path)];
  const folders = reachable.map((folder) => `${escape(posix.relative(path, folder))}/`);
  const allowed = ['\\./', ...folders, ...named].join('|');
  const patterns = [
    {
      regex: `^(?!(${allowed}))`,
      message: `src/${path} may import ${reachable.join(', ') || 'nothing of our own'} | ${packages.join(', ') || 'no package'}. IMPORTS and FLOORS are in eslint.config.mjs.`,
    },
  ];
  if (path !== SDK_INTERNALS) patterns.push(noDeepImport);
  if (SANDBOXED.includes(path.split('/')[0])) {
    patterns.push({
      regex: '\\.schema\\.js$',
      allowTypeImports: true,
      message: 'Types only from a schema file: its values would pull zod into the workflow bundle.',
    });
  }
  return ['error', { patterns }];
}

export default defineConfig(
  globalIgnores(['dist/', 'node_modules/', 'coverage/', '.colloquy/', 'test/replay/histories/']),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['vitest.config.ts', 'vitest.mutation.config.ts'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'separate-type-imports' },
      ],
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      'max-lines': ['error', { max: 350, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 3],
      'no-console': 'error',
      'no-restricted-syntax': ['error', noDefaultExport],

      // Adds noise without safety.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: true },
      ],
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        {
          allowNumber: true,
          allowBoolean: true,
          allowAny: false,
          allowNullish: false,
          allowRegExp: false,
        },
      ],
      '@typescript-eslint/unbound-method': ['error', { ignoreStatic: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
    },
  },
  {
    files: ['src/workflows/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', noDefaultExport, noPlainError, noLocalActivity] },
  },
  ...imports,
  {
    files: ['src/*.ts', 'examples/**/*.ts', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: [noDeepImport] }] },
  },
  {
    files: ['web/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex:
                '^(?!(\\.|colloquy/(browser(/[a-z]+)?|react)$|react$|react-dom/client$|markdown-it$))',
              message:
                'The web page is built on what pages of users have: colloquy/react, colloquy/browser and its parts.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['src/cli/**/*.ts', 'examples/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.{ts,tsx}', 'bench/**/*.ts'],
    rules: {
      'max-params': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      // Temporal's packages do not export the enums of the raw gRPC types.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
    },
  },
  {
    files: ['test/**/*.test.{ts,tsx}', 'test/components/**/*.{ts,tsx}'],
    ignores: ['test/real-model/**'],
    rules: { 'no-restricted-syntax': ['error', noDefaultExport, ...noBareTimeLimit] },
  },
  {
    files: ['vitest.config.ts', 'vitest.mutation.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['scripts/**/*.mjs'],
    rules: { 'no-undef': 'off', 'no-unused-vars': 'error' },
  },
);
