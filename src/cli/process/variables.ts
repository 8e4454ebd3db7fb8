/** The variables of the environment that the commands read: their form, their meaning, and the flags that set the same. */
import { z } from 'zod';
import { PAGE_URL_RULE, pageUrlProblem } from '../../client/api/checks.js';
import { rangeProblem } from '../../define/http/addresses.js';
import { DEFAULT_REQUESTS, DEFAULT_STREAMS, WINDOW_SECONDS } from '../../http/limits/options.js';
import {
  CACHED_RUNS,
  MAX_PATIENCE,
  MIN_RETENTION_MS,
} from '../../protocol/limits/service-limits.js';
import { durationProblem } from '../../protocol/values/durations.js';
import { DEFAULT_TASK_QUEUE } from '../../protocol/workflow/messaging.js';
import { type ConfiguredEndpoint, configuredProblems } from '../../webhooks/endpoints.js';
import {
  address,
  filled,
  hostNames,
  httpUrls,
  limit,
  list,
  oneOf,
  origins,
  port,
} from './forms.js';
import { IDENTITY_VARIABLES } from './identity-config.js';

const PATIENCE_RULE = `must be a number from 1 to ${MAX_PATIENCE}`;
/** As many as the workflow tasks that a worker takes at once. */
const MIN_CACHED_RUNS = 40;
const CACHED_RULE = `must be a whole number from ${MIN_CACHED_RUNS}`;
const RETENTION = { minMs: MIN_RETENTION_MS, maxMs: Number.MAX_SAFE_INTEGER };
const RETENTION_RULE = 'must be a duration of at least a minute, such as "30 days"';
/** Where `temporal server start-dev` serves its UI. */
const DEV_UI_ORIGINS = 'http://localhost:8233,http://127.0.0.1:8233';
const privateAddresses = list.refine(
  (parts) => parts.every((part) => rangeProblem(part) === undefined),
  'must be addresses, ranges such as 10.1.0.0/16, or host names, separated by commas',
);
const webhooks = z.string().transform((text, context): readonly ConfiguredEndpoint[] => {
  const fail = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return fail('must be JSON');
  }
  const [problem] = configuredProblems(given);
  return problem === undefined
    ? (given as readonly ConfiguredEndpoint[])
    : fail(`${problem.path} ${problem.message}`.trim());
});

export const EnvironmentSchema = z.object({
  COLLOQUY_DATA: filled
    .default('.colloquy')
    .describe(
      "Folder of the event log, and of the development server's database; workers and API need the same.",
    ),
  COLLOQUY_DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
    .refine((url) => URL.canParse(url), 'must be postgres://user:password@host:port/database')
    .optional()
    .describe(
      'Address of a Postgres database for the event log, instead of a sqlite file in the folder: for several machines.',
    ),
  COLLOQUY_BLOBS: filled
    .default('event-log')
    .describe(
      'Where values go that are too large for events: `event-log` (beside them), a folder, or `off` (they are cut).',
    ),
  COLLOQUY_TASK_QUEUE: filled
    .default(DEFAULT_TASK_QUEUE)
    .describe('Task queue; workers and API need the same.'),
  COLLOQUY_SEARCH_ATTRIBUTES: oneOf('on', 'off')
    .default('on')
    .describe(
      '`off` for a server without the search attributes of the engine; workers and API need the same.',
    ),
  COLLOQUY_COMPRESSION: oneOf('on', 'off')
    .default('on')
    .describe(
      '`on` or `off`: compress payloads of more than 8 KB. Compressed ones are read in any case.',
    ),
  COLLOQUY_PATIENCE: z
    .string()
    .regex(/^\d{1,3}(\.\d+)?$/, PATIENCE_RULE)
    .transform(Number)
    .refine((value) => value >= 1 && value <= MAX_PATIENCE, PATIENCE_RULE)
    .prefault('1')
    .describe(
      'From 1 to 100: factor for every wait of the API for Temporal and its workers, on slow machines.',
    ),
  COLLOQUY_AUDIT: oneOf('off', 'records', 'full')
    .default('off')
    .describe(
      'Records of model requests: none, a log line each (`records`), or request and answer as stored values (`full`).',
    ),
  COLLOQUY_CACHED_RUNS: z
    .string()
    .regex(/^\d{1,6}$/, CACHED_RULE)
    .transform(Number)
    .refine((value) => value >= MIN_CACHED_RUNS, CACHED_RULE)
    .prefault(String(CACHED_RUNS))
    .describe(
      'Conversations that a worker keeps in memory, about 1 MB each; others are replayed when they go on. Set it to those that are active at once.',
    ),
  COLLOQUY_SDK_GUARDS: oneOf('on', 'off')
    .default('off')
    .describe(
      'Run workflows with the time limit and the promise stack traces of the SDK; costs about 3 ms of CPU a turn.',
    ),
  COLLOQUY_UI_ORIGINS: origins
    .prefault(DEV_UI_ORIGINS)
    .describe(
      'Origins of Temporal UIs whose pages may have payloads decoded by the API, separated by commas.',
    ),
  COLLOQUY_TEMPORAL_UI: z
    .url({ protocol: /^https?$/, error: 'must be an address such as http://localhost:8233' })
    .optional()
    .describe("Address of the Temporal UI: the web page links a conversation's run in it."),
  COLLOQUY_PAGE_URL: z
    .string()
    .refine((value) => pageUrlProblem(value) === undefined, { error: PAGE_URL_RULE })
    .optional()
    .describe(
      'Address of the web page for people: the page of a conversation in the Temporal UI links to it there. For API and workers.',
    ),
  COLLOQUY_API_URLS: httpUrls
    .optional()
    .describe(
      'Addresses of the API, separated by commas, each as a worker would reach it: HTTP tools never reach them. By default `COLLOQUY_HOST` with `COLLOQUY_PORT`.',
    ),
  COLLOQUY_UI: oneOf('on', 'off')
    .default('on')
    .describe('`off`: the API does not serve the web page for people, `/ui`.'),
  COLLOQUY_CORS_ORIGINS: origins
    .default([])
    .describe(
      'Origins whose pages may use the API from a browser (CORS), separated by commas; without cookies.',
    ),
  ...IDENTITY_VARIABLES,
  COLLOQUY_HOST: filled
    .default('127.0.0.1')
    .describe('Address to listen at; loopback only with the development identity.'),
  COLLOQUY_ALLOWED_HOSTS: hostNames
    .default([])
    .describe(
      'Names under which the API may be reached besides those of this machine, separated by commas, such as that of a reverse proxy.',
    ),
  COLLOQUY_PORT: port.prefault('8080').describe('Port of the API; 0 takes a free one.'),
  COLLOQUY_ROUTES: filled
    .optional()
    .describe(
      'Module (`.js`, or `.ts` as Node runs it) that exports `routes`: a function that makes an Express router, which the API has before its own routes.',
    ),
  COLLOQUY_RETENTION: filled
    .refine((text) => durationProblem(text, RETENTION) === undefined, RETENTION_RULE)
    .optional()
    .describe('Workers delete conversations that were closed longer ago, such as `30 days`.'),
  COLLOQUY_REQUEST_LIMIT: limit
    .prefault(String(DEFAULT_REQUESTS))
    .describe(
      `Requests that one caller may send to the API in ${WINDOW_SECONDS} s, or \`off\`; answers to calls count for nothing.`,
    ),
  COLLOQUY_STREAM_LIMIT: limit
    .prefault(String(DEFAULT_STREAMS))
    .describe('Event streams that one caller may have open, or `off`.'),
  COLLOQUY_CONNECTION_LIMIT: limit
    .prefault('5000')
    .describe('Connections that one address may have open to the API, or `off`.'),
  COLLOQUY_METRICS: address
    .optional()
    .describe(
      'Address at which a worker serves metrics for Prometheus, such as `127.0.0.1:9464`; those of Temporal and those of conversations.',
    ),
  COLLOQUY_API_METRICS: address
    .optional()
    .describe(
      'Address at which an API process serves metrics for Prometheus at `/metrics`, such as `127.0.0.1:9465`.',
    ),
  COLLOQUY_HEALTH_PORT: port
    .optional()
    .describe(
      'Port at which a worker serves `/healthz` and `/readyz`, for probes; 0 takes a free one.',
    ),
  COLLOQUY_HEALTH_HOST: filled
    .default('127.0.0.1')
    .describe('Address of that port; `0.0.0.0` for probes from other machines.'),
  COLLOQUY_WEBHOOKS: webhooks
    .prefault('[]')
    .describe(
      'Webhooks that a worker creates, as JSON: a list of objects with `name`, `url`, `secret`, and, to send less, `tenant`, `events`, `agents`.',
    ),
  COLLOQUY_WEBHOOKS_PRIVATE: privateAddresses
    .default([])
    .describe(
      'Addresses of the own network that webhooks may reach: addresses, ranges or host names, separated by commas; `all` for all.',
    ),
  COLLOQUY_LOG: oneOf('json', 'pretty')
    .optional()
    .describe(
      '`json` or `pretty`: the form of log lines, on stderr; without it text for a person on a terminal, and else JSON. `NO_COLOR` and `FORCE_COLOR` decide on colours.',
    ),
  COLLOQUY_LOG_LEVEL: oneOf('debug', 'info', 'warn', 'error', 'silent')
    .default('info')
    .describe('`debug`, `info`, `warn`, `error` or `silent`: the lowest level that is logged.'),
});

/** The equivalent flag, for messages. */
export const FLAGS: Readonly<Record<string, string>> = {
  COLLOQUY_DATA: ' (--data)',
  COLLOQUY_PORT: ' (--port)',
  COLLOQUY_HOST: ' (--host)',
  COLLOQUY_ALLOWED_HOSTS: ' (--allowed-hosts)',
  COLLOQUY_PROVIDER_FILES: ' (--provider-files)',
  COLLOQUY_ROUTES: ' (--routes)',
};

/** A variable of the environment, for help and documentation. */
export interface EnvironmentVariable {
  readonly name: string;
  /** The option of the command line that sets the same. */
  readonly flag?: string;
  /** Absent: none. */
  readonly default?: string;
  readonly meaning: string;
}

/** Every variable that the commands read, in the order of the schema. */
export function environmentVariables(): readonly EnvironmentVariable[] {
  return Object.entries(EnvironmentSchema.shape).map(([name, schema]) => {
    const flag = /--[\w-]+/.exec(FLAGS[name] ?? '')?.[0];
    const { data } = schema.safeParse(undefined) as {
      readonly data?: string | number | readonly unknown[];
    };
    const text = Array.isArray(data) ? data.join(',') : String(data ?? '');
    return {
      name,
      ...(flag === undefined ? {} : { flag }),
      ...(text === '' ? {} : { default: text }),
      meaning: schema.description ?? '',
    };
  });
}
