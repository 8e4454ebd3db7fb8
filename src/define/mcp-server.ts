/**
 * `mcpServer`: declares a server whose tools an agent has. The declaration is data and functions; the worker connects
 * (`src/tools/mcp`). Runs anywhere.
 */

import { MAX_RUN_TIMEOUT_MS, MAX_WAIT_MS } from '../protocol/limits/limits.js';
import { durationMs, durationProblem } from '../protocol/values/durations.js';
import { isRecord } from '../protocol/values/json.js';
import { checkAudience } from './checks/audience.js';
import { deadlineProblem } from './checks/deadlines.js';
import { checkKeys, ProblemList, shown, type Untyped } from './checks/problems.js';
import { retentionProblem } from './checks/retention.js';
import { checkWellFormed } from './checks/well-formed.js';
import { checkAllowPrivate } from './http/addresses.js';
import {
  MAX_MCP_SERVER_NAME_CHARS,
  MCP_CONNECT_TIMEOUT_MS,
  MCP_LIST_TIMEOUT_MS,
  MCP_LISTING_MS,
} from './mcp/limits.js';
import type { McpServer, McpTransport } from './mcp/server.js';
import type { McpHttpServerSpec, McpServerSpec, McpStdioServerSpec } from './mcp/spec.js';
import type { UntypedServices } from './tool/context.js';
import { checkResultBytes } from './tool-rules/execution.js';
import { checkApproval } from './tool-rules/fields.js';

const SHARED = [
  ...['name', 'transport', 'allowedTools', 'prefix', 'approval', 'effects', 'timeouts'],
  ...['refreshAfter', 'audience', 'retention', 'maxResultBytes', 'pushedQuestions'],
];
const OWN = {
  http: ['url', 'token', 'headers', 'identity', 'allowPrivate'],
  stdio: ['command', 'args', 'env', 'cwd'],
} as const;
const TIMEOUTS = ['connect', 'list', 'approval', 'answer', 'run', 'total'];
const EFFECTS: readonly unknown[] = ['none', 'idempotent', 'once'];
const PUSH_MODES: readonly unknown[] = ['ask', 'hold', 'cancel'];
const IDENTITIES: readonly unknown[] = ['worker', 'tenant', 'requester'];
const NAME = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;

/**
 * Declares an MCP server for `defineAgent({mcpServers: [...]})`. Does not connect: a worker does, at the first model
 * call.
 * @throws {DefinitionError} invalid_definition with every broken rule of the declaration.
 * @example mcpServer({ name: 'github', url: 'https://mcp.example.com/mcp', token: ({ services }) =>
 * services.vault.read('github') })
 */
export function mcpServer<Services = UntypedServices>(
  spec: McpServerSpec<Services>,
): McpServer<Services> {
  const problems = new ProblemList();
  const untyped: unknown = spec;
  if (isRecord(untyped)) checkServer(untyped, problems);
  else problems.add('', `must be an object, got ${shown(untyped)}`);
  problems.throwIfAny(isRecord(untyped) ? `MCP server ${shown(untyped['name'])}` : 'an MCP server');
  const { connect, list } = spec.timeouts ?? {};
  return Object.freeze({
    kind: 'mcp_server',
    name: spec.name,
    transport: transportOf(spec),
    spec: Object.freeze({ ...spec }),
    connectMs: durationMs(connect) ?? MCP_CONNECT_TIMEOUT_MS,
    listMs: durationMs(list) ?? MCP_LIST_TIMEOUT_MS,
    refreshAfterMs: durationMs(spec.refreshAfter) ?? MCP_LISTING_MS,
  });
}

function transportOf<Services>(spec: McpServerSpec<Services>): McpTransport<Services> {
  // A field that is there and undefined counts as absent.
  const { url, token, headers, identity, allowPrivate } = spec as Partial<
    McpHttpServerSpec<Services>
  >;
  if (url !== undefined)
    return {
      type: 'http',
      url,
      ...(token === undefined ? {} : { token }),
      ...(headers === undefined ? {} : { headers }),
      ...(identity === undefined ? {} : { identity }),
      ...(allowPrivate === undefined ? {} : { allowPrivate }),
    };
  const { command, args, env, cwd } = spec as McpStdioServerSpec<Services>;
  return {
    type: 'stdio',
    command,
    ...(args === undefined ? {} : { args: [...args] }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function checkServer(spec: Untyped, problems: ProblemList): void {
  checkWellFormed(problems, spec);
  const { name } = spec;
  if (typeof name !== 'string' || !NAME.test(name) || name.length > MAX_MCP_SERVER_NAME_CHARS)
    problems.add(
      'name',
      `must be words of letters, digits and "-", joined by single "_", up to ${MAX_MCP_SERVER_NAME_CHARS} characters, got ${shown(name)}`,
    );
  checkTransport(spec, problems);
  checkAllowed(spec['allowedTools'], problems);
  if (spec['prefix'] !== undefined && typeof spec['prefix'] !== 'boolean')
    problems.add('prefix', `must be true or false, got ${shown(spec['prefix'])}`);
  if (spec['approval'] !== 'destructive') checkApproval(spec['approval'], 'server', problems);
  checkEffects(spec['effects'], problems);
  checkClocks(spec, problems);
  if (spec['audience'] !== undefined) checkAudience(spec['audience'], 'audience', problems);
  problems.addIf('retention', retentionProblem(spec['retention']));
  checkResultBytes(spec['maxResultBytes'], problems);
  const { pushedQuestions } = spec;
  if (pushedQuestions !== undefined && !PUSH_MODES.includes(pushedQuestions))
    problems.add(
      'pushedQuestions',
      `must be one of ${PUSH_MODES.join(', ')}, got ${shown(pushedQuestions)}`,
    );
}

function checkTransport(spec: Untyped, problems: ProblemList): void {
  const { url, command, transport } = spec;
  if ((url === undefined) === (command === undefined)) {
    problems.add('url', 'exactly one of url (streamable HTTP) and command (stdio) must be given');
    checkKeys(problems, spec, { prefix: '', allowed: [...SHARED, ...OWN.http, ...OWN.stdio] });
    return;
  }
  const type = url === undefined ? 'stdio' : 'http';
  if (transport !== undefined && transport !== type)
    problems.add('transport', `must be "${type}" here, or be left out, got ${shown(transport)}`);
  checkKeys(problems, spec, { prefix: '', allowed: [...SHARED, ...OWN[type]] });
  if (type === 'http') checkHttp(spec, problems);
  else checkStdio(spec, problems);
}

function checkHttp(spec: Untyped, problems: ProblemList): void {
  const { url, token, headers, identity } = spec;
  checkAllowPrivate(spec['allowPrivate'], problems);
  const protocol = typeof url === 'string' ? protocolOf(url) : undefined;
  if (protocol !== 'http:' && protocol !== 'https:')
    problems.add('url', `must be an http or https URL, got ${shown(url)}`);
  else if (/^https?:\/\/[^/?#]*@/i.test(String(url)))
    problems.add('url', 'must not hold a user name or password: give a token or headers');
  if (token !== undefined && typeof token !== 'function' && !isText(token))
    problems.add('token', 'must be a non-empty text or a function');
  checkTexts(headers, 'headers', problems);
  if (identity === undefined || identity === 'worker') return;
  if (!IDENTITIES.includes(identity))
    problems.add('identity', `must be one of ${IDENTITIES.join(', ')}, got ${shown(identity)}`);
  else if (typeof token !== 'function' && typeof headers !== 'function')
    problems.add(
      'identity',
      'needs a token or headers that are functions: others are the same for all',
    );
}

/** The protocol of a URL. The types of this project have no `URL`; the host has it. */
function protocolOf(url: string): string | undefined {
  return /^(https?:)\/\/[^\s/?#]+(?:[/?#]\S*)?$/i.exec(url)?.[1]?.toLowerCase();
}

function checkStdio({ command, args, env, cwd }: Untyped, problems: ProblemList): void {
  if (!isText(command)) problems.add('command', `must be a program, got ${shown(command)}`);
  if (args !== undefined && !isTexts(args)) problems.add('args', 'must be a list of texts');
  if (cwd !== undefined && !isText(cwd)) problems.add('cwd', 'must be a folder');
  checkTexts(env, 'env', problems);
}

function checkTexts(value: unknown, field: string, problems: ProblemList): void {
  if (value === undefined || typeof value === 'function') return;
  if (!isRecord(value) || !Object.values(value).every((text) => typeof text === 'string'))
    problems.add(field, 'must be an object of texts, or a function that returns one');
}

function checkAllowed(allowed: unknown, problems: ProblemList): void {
  if (allowed === undefined) return;
  if (!isTexts(allowed) || allowed.length === 0 || !allowed.every(isText))
    problems.add('allowedTools', 'must be a non-empty list of tool names, or be left out');
}

function checkEffects(effects: unknown, problems: ProblemList): void {
  if (effects === undefined || EFFECTS.includes(effects)) return;
  const rule = `must be one of ${EFFECTS.join(', ')}`;
  if (!isRecord(effects)) {
    problems.add('effects', `${rule}, or an object of these by tool name, got ${shown(effects)}`);
    return;
  }
  for (const [tool, value] of Object.entries(effects))
    if (!EFFECTS.includes(value)) problems.add(`effects.${tool}`, `${rule}, got ${shown(value)}`);
}

function checkClocks({ timeouts, refreshAfter }: Untyped, problems: ProblemList): void {
  if (refreshAfter !== undefined)
    problems.addIf('refreshAfter', durationProblem(refreshAfter, { minMs: 1, maxMs: MAX_WAIT_MS }));
  if (timeouts === undefined) return;
  if (!isRecord(timeouts)) {
    problems.add('timeouts', `must be an object, got ${shown(timeouts)}`);
    return;
  }
  checkKeys(problems, timeouts, { prefix: 'timeouts.', allowed: TIMEOUTS });
  for (const clock of TIMEOUTS) {
    const value = timeouts[clock];
    const maxMs = ['connect', 'list', 'run'].includes(clock) ? MAX_RUN_TIMEOUT_MS : MAX_WAIT_MS;
    if (value !== undefined)
      problems.addIf(`timeouts.${clock}`, deadlineProblem(value, { minMs: 1, maxMs }));
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
