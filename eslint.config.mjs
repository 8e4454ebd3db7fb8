import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * Who may import whom: the whole list for each folder of src/. `schema` is for `*.schema.ts` files only.
 * A package stands for its sub-paths too; `node:` for every built-in of Node.
 */
const TEMPORAL = ['client', 'common', 'worker', 'workflow', 'activity', 'envconfig'].map(
  (name) => `@temporalio/${name}`,
);
const IMPORTS = {
  protocol: { own: [], packages: [], schema: ['zod', 're2js'] },
  core: { own: ['protocol'], packages: [] },
  define: { own: ['protocol'], packages: ['zod', 'ms'] },
  workflows: {
    own: ['protocol', 'core'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  model: {
    own: ['protocol'],
    packages: ['openai', '@ai-sdk/provider', 'gpt-tokenizer', 'zod', 'node:'],
  },
  tools: {
    own: ['protocol', 'define', 'core'],
    packages: [...['zod', 'undici', 'ipaddr.js'], ...['@modelcontextprotocol/client', 'node:']],
  },
  store: { own: ['protocol', 'core'], packages: ['node:', 'pg', 'node-pg-migrate'] },
  client: {
    own: ['protocol', 'core'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/proto', 'node:'],
  },
  projection: {
    own: ['protocol', 'core', 'store', 'client'],
    packages: ['@temporalio/client', '@temporalio/common', 'node:'],
  },
  watchdog: { own: [], packages: ['pino', 'node:'] },
  activities: {
    own: ['protocol', 'core', 'define', 'tools', 'model', 'projection', 'watchdog'],
    packages: ['@temporalio/activity', '@temporalio/common', 'node:'],
  },
  http: {
    own: ['protocol', 'core', 'client', 'projection', 'store', 'watchdog'],
    packages: ['express', 'zod', 'helmet', 'pino', 'node:'],
  },
  worker: {
    own: [
      ...['protocol', 'core', 'define', 'tools', 'model', 'activities', 'client', 'projection'],
      ...['store', 'watchdog'],
    ],
    packages: [...TEMPORAL.filter((name) => name !== '@temporalio/workflow'), 'pino', 'node:'],
  },
  testing: { own: ['protocol', 'core', 'define', 'tools', 'model'], packages: ['zod', 'node:'] },
  cli: {
    own: [
      ...['protocol', 'core', 'define', 'model', 'tools', 'store', 'client', 'projection'],
      ...['activities', 'http', 'worker', 'testing', 'watchdog'],
    ],
    packages: ['commander', 'pino', 'zod', ...TEMPORAL, 'node:'],
  },
};

/** Folders whose code reaches the sandbox: from schema files they may take types only, or zod would follow. */
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

/** A time limit of one test that does not know of a busy machine fails there, however long the waits in it may take. */
const noBareTimeLimit = [
  'CallExpression[callee.name=/^(it|test)$/] > *.arguments:nth-child(3):not(CallExpression, ArrowFunctionExpression)',
  'CallExpression[callee.callee.object.name=/^(it|test)$/] > *.arguments:nth-child(3):not(CallExpression, ArrowFunctionExpression)',
  'CallExpression[callee.name=/^(before|after)(All|Each)$/] > *.arguments:nth-child(2):not(CallExpression)',
  'CallExpression[callee.name=/^(it|test)$/] > ObjectExpression > Property[key.name="timeout"] > *.value:not(CallExpression)',
  'CallExpression[callee.property.name="poll"] > ObjectExpression > Property[key.name="timeout"] > *.value:not(CallExpression)',
].map((selector) => ({
  selector,
  message:
    'Give tests time by patient(ms) of test/support/patience.ts, which knows of busy machines.',
}));

const imports = Object.entries(IMPORTS).flatMap(([folder, allowed]) => [
  {
    files: [`src/${folder}/**/*.ts`],
    rules: {
      '@typescript-eslint/no-restricted-imports': importRule(folder, allowed.own, allowed.packages),
    },
  },
  ...(allowed.schema === undefined
    ? []
    : [
        {
          files: [`src/${folder}/**/*.schema.ts`],
          rules: {
            '@typescript-eslint/no-restricted-imports': importRule(
              folder,
              allowed.own,
              allowed.schema,
            ),
          },
        },
      ]),
]);

function importRule(folder, own, packages) {
  const escape = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const named = packages.map((name) =>
    name.endsWith(':') ? escape(name) : `${escape(name)}(/|$)`,
  );
  // `./x.js`, `../own/x.js`, `../../own/x.js` from a sub-folder, and further up within the own folder.
  const folders = [folder, ...own].map((name) => `(\\.\\./)+${name}/`);
  const allowed = ['\\./', '(\\.\\./)+[^/]+\\.js$', ...folders, ...named].join('|');
  const rest = own.length === 0 ? 'nothing of our own' : own.join(', ');
  const patterns = [
    {
      regex: `^(?!(${allowed}))`,
      message: `src/${folder} may import ${rest} | ${packages.join(', ') || 'no package'}. The table is in eslint.config.mjs.`,
    },
  ];
  if (SANDBOXED.includes(folder)) {
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
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['vitest.config.ts'] },
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
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 3],
      'no-console': 'error',
      'no-restricted-syntax': ['error', noDefaultExport],

      // Noise without safety.
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
    files: ['src/cli/**/*.ts', 'examples/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'max-params': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      // Enums of Temporal's raw gRPC types are no exports of its packages.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
    },
  },
  {
    files: ['test/**/*.test.ts'],
    ignores: ['test/real-model/**'],
    rules: { 'no-restricted-syntax': ['error', noDefaultExport, ...noBareTimeLimit] },
  },
  {
    files: ['vitest.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['scripts/**/*.mjs'],
    rules: { 'no-undef': 'off', 'no-unused-vars': 'error' },
  },
);
