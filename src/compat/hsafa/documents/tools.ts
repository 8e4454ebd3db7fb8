/** `hsafaTools`: tool documents of the Hsafa gateway as tools of this engine. Runs in Node. */
import type { InboxSpec } from '../../../define/agent/settings.js';
import { DefinitionError } from '../../../define/checks/problems.js';
import { defineTool } from '../../../define/define-tool.js';
import type { HttpAnswer } from '../../../define/http/spec.js';
import { httpTool } from '../../../define/http-tool.js';
import type { Plugin } from '../../../define/plugin/types.js';
import { jsonSchema, type RawSchema } from '../../../define/schemas/schema.js';
import { type ToolError, toolError } from '../../../define/tool/context.js';
import type { HttpMethod } from '../../../define/tool/http-plan.js';
import type { ToolMetadata } from '../../../define/tool/spec.js';
import type { Tool } from '../../../define/tool/types.js';
import { TEXTS } from '../../../protocol/failures/texts.js';
import type { JsonSchema } from '../../../protocol/values/json.js';
import { cutText } from '../../../protocol/values/well-formed.js';
import { spacesPlugin } from '../../../spaces/plugin/plugin.js';
import { below, Findings, type Warning } from './findings.js';
import {
  DEFAULT_TIMEOUT_MS,
  MAX_DOCUMENTS,
  type ParsedTool,
  ToolDocumentSchema,
  unreadFields,
} from './forms.js';
import { checkAddress, type Headers, headersOf, type SecretOf } from './headers.js';

export interface HsafaOptions {
  /** Refuses the documents where they would otherwise be taken with a warning. @defaultValue false */
  readonly strict?: boolean;
  /** Secrets that headers name. @defaultValue `ctx.secret(name)`, the worker's `secrets` */
  readonly secret?: SecretOf;
  /** Addresses that are not public; the same as the field of `httpTool`. @defaultValue none */
  readonly allowPrivate?: true | readonly string[];
  /**
   * False for applications without spaces: agents have no built-in tools, whose names are free then, and `visible` has
   * no effect. @defaultValue agents have them, and no document may have the name of one
   */
  readonly spaces?: false;
}

/** One object, which a worker starts once for all its agents. */
const BUILT_INS = withHint(spacesPlugin());
const BUILT_IN_NAMES: ReadonlySet<string> = new Set(BUILT_INS.tools.map(({ name }) => name));

/** The plugin, whose error at the start of a worker names the option that leaves it out. */
function withHint(plugin: Plugin): Plugin {
  return Object.freeze({
    ...plugin,
    ready: async (ctx) => {
      try {
        await plugin.ready?.(ctx);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const hint = 'agents in JSON form leave out the built-in tools by spaces: false';
        throw new TypeError(`${reason}; ${hint}`, { cause: error });
      }
    },
  } satisfies Plugin);
}

/**
 * The plugins of an agent document. A `spacesPlugin` of the caller, such as one with memory, replaces the built-in one,
 * which is the last, so that an `inboxRate` of the caller's plugins goes before its own.
 * @throws {DefinitionError} for a plugin of its id without its tools, and for one with them beside `spaces: false`
 */
export function withBuiltIns(
  plugins: readonly Plugin[],
  { spaces }: Pick<HsafaOptions, 'spaces'>,
): readonly Plugin[] {
  const index = plugins.findIndex(({ id }) => id === BUILT_INS.id);
  const given = plugins[index];
  if (given === undefined) return spaces === false ? plugins : [...plugins, BUILT_INS];
  const names = new Set(given.tools.map(({ name }) => name));
  const isWhole = BUILT_INS.tools.every(({ name }) => names.has(name));
  if (isWhole !== (spaces === false)) return plugins;
  const rule = isWhole
    ? 'gives agents the built-in tools, which spaces: false leaves out'
    : `has the id of spacesPlugin, "${given.id}", without the built-in tools`;
  throw new DefinitionError('the options of agents', [{ field: `plugins[${index}]`, rule }]);
}

/**
 * For documents out of a store. They were checked when they were put, and a call that waits keeps its tool, also of a
 * name that was free then.
 */
export function asStored(options: HsafaOptions): HsafaOptions {
  return { ...options, strict: false, spaces: false };
}

/** The bound of turns that events start, where neither settings nor plugins of the caller have one. */
export function defaultRate(plugins: readonly Plugin[]): Pick<InboxSpec, 'rate'> {
  const { inboxRate: rate } = BUILT_INS;
  const isGiven = plugins.some(({ inboxRate }) => inboxRate !== undefined);
  return isGiven || rate === undefined ? {} : { rate };
}

export interface HsafaTools {
  /** In the order of the documents. `metadata.visible` is whether a call is shown in a space. */
  readonly tools: readonly Tool[];
  readonly warnings: readonly Warning[];
}

/**
 * Makes tools of one document or a list; has no effects.
 *
 * | first that applies | the tool |
 * |---|---|
 * | `executionType: 'internal'` | is its arguments: `{success: true, args}` |
 * | `execution.url` | is an HTTP request, of `timeout` milliseconds |
 * | `isAsync` | is pending at once: `{status: 'pending', pendingToolCallId}`; its result is new input |
 * | else | waits `timeout` milliseconds: `Tool timed out after 30000ms`; a late result is new input |
 *
 * A call without URL is answered by a person (`space`) or by another backend (`external`).
 * @throws {DefinitionError} invalid_definition with every fault of all documents
 */
export function hsafaTools(documents: unknown, options: HsafaOptions = {}): HsafaTools {
  const findings = new Findings(options.strict);
  const placed = placesOf(documents, '', findings);
  const tools = placed.map(({ document, at }) => toolOf(document, at, { findings, options }));
  checkNames(placed, findings);
  findings.throwIfAny('tool documents');
  return { tools: definedIn(tools), warnings: findings.warnings };
}

/** A document and its place. */
export interface Placed {
  readonly document: unknown;
  readonly at: string;
}

/** The documents of one, or of a list. */
export function placesOf(documents: unknown, at: string, findings: Findings): readonly Placed[] {
  if (!Array.isArray(documents)) return [{ document: documents, at }];
  if (documents.length > MAX_DOCUMENTS)
    findings.fault(at, `must have at most ${MAX_DOCUMENTS} documents, got ${documents.length}`);
  return (documents as readonly unknown[])
    .slice(0, MAX_DOCUMENTS)
    .map((document, index) => ({ document, at: below(at, `[${index}]`) }));
}

/** Two documents of one name in a list are a fault of the later one. */
export function checkNames(placed: readonly Placed[], findings: Findings): void {
  const known = new Set<unknown>();
  for (const { document, at } of placed) {
    const { name } = (document ?? {}) as { readonly name?: unknown };
    if (typeof name === 'string' && known.has(name))
      findings.fault(below(at, 'name'), `duplicate name ${JSON.stringify(name)}`);
    known.add(name);
  }
}

export function definedIn<Value>(values: readonly (Value | undefined)[]): readonly Value[] {
  return values.filter((value) => value !== undefined);
}

export interface Reading {
  readonly findings: Findings;
  readonly options: HsafaOptions;
}

/** In place of required fields that break rules. */
const REQUIRED = { name: 'tool', executionType: 'external' };

/** Undefined, with its faults added, when the document makes no tool. */
export function toolOf(document: unknown, at: string, reading: Reading): Tool | undefined {
  const { findings } = reading;
  const before = findings.faults;
  const parsed = findings.parsed(ToolDocumentSchema, document, { at, required: REQUIRED });
  const tool = parsed === undefined ? undefined : toolFrom(parsed, at, reading);
  return findings.faults === before ? tool : undefined;
}

function toolFrom(parsed: ParsedTool, at: string, reading: Reading): Tool | undefined {
  const { findings, options } = reading;
  if (options.spaces !== false && BUILT_IN_NAMES.has(parsed.name))
    findings.fault(
      below(at, 'name'),
      `is that of a built-in tool, which no document replaces: ${JSON.stringify(parsed.name)}`,
    );
  for (const field of unreadFields('tool', parsed))
    findings.warn(below(at, field), 'is not a field of a tool document: nothing reads it');
  const common = commonOf(parsed, at, findings);
  const { executionType, execution } = parsed;
  // Also of an execution without effect: a store keeps the document, and other callers read it.
  const headers = headersIn(parsed, at, reading);
  if (executionType === 'internal') {
    for (const field of ['isAsync', 'timeout', 'execution'] as const)
      if (parsed[field] !== undefined && parsed[field] !== false)
        findings.warn(below(at, field), 'has no effect: an internal tool returns its arguments');
    return made(at, findings, () => defineTool({ ...common, executor: 'internal' }));
  }
  if (execution?.url !== undefined) return requestOf(parsed, { at, common, headers }, reading);
  if (execution !== undefined)
    findings.warn(below(at, 'execution'), 'has no effect without execution.url');
  if (executionType === 'gateway') {
    findings.fault(below(at, 'execution.url'), 'is required: a gateway tool is an HTTP request');
    return undefined;
  }
  return waitingTool(parsed, { at, common }, findings);
}

interface Common {
  readonly name: string;
  readonly description: string;
  readonly input: RawSchema;
  readonly metadata: ToolMetadata;
}

interface Placement {
  readonly at: string;
  readonly common: Common;
}

function headersIn({ execution }: ParsedTool, at: string, { findings, options }: Reading): Headers {
  const secretOf = options.secret ?? ((name) => (ctx) => ctx.secret(name));
  const place = below(at, 'execution.headers');
  return headersOf(execution?.headers ?? {}, place, { findings, secretOf });
}

function commonOf(parsed: ParsedTool, at: string, findings: Findings): Common {
  const { name, description, inputSchema, executionType, visible } = parsed;
  if (description === undefined)
    findings.warn(below(at, 'description'), 'is missing: the model reads the name in its place');
  const isOpen = inputSchema === undefined || Object.keys(inputSchema).length === 0;
  if (isOpen) findings.warn(below(at, 'inputSchema'), 'is missing: the tool takes any object');
  return {
    name,
    description: description ?? name,
    input: jsonSchema(isOpen ? { type: 'object' } : (inputSchema as JsonSchema)),
    metadata: { visible: visible ?? executionType !== 'internal' },
  };
}

function requestOf(
  { execution, isAsync, timeout = DEFAULT_TIMEOUT_MS }: ParsedTool,
  { at, common, headers }: Placement & { readonly headers: Headers },
  { findings, options }: Reading,
): Tool | undefined {
  const { url = '', method = 'POST' } = execution ?? {};
  if (isAsync === true)
    findings.warn(
      below(at, 'isAsync'),
      'has no effect: the tool has a URL, so its result is inline',
    );
  checkAddress(url, below(at, 'execution.url'), findings);
  return made(at, findings, () =>
    httpTool({
      ...common,
      url,
      // Other words are faults of the definition.
      method: method.toUpperCase() as HttpMethod,
      headers,
      timeouts: { run: `${timeout}ms` },
      error: statusError,
      ...(options.allowPrivate === undefined ? {} : { allowPrivate: options.allowPrivate }),
    }),
  );
}

/** Characters of an error response that the model reads. */
const MAX_EXCERPT_CHARS = 500;

/** `HTTP <status>: <text>`. */
function statusError({ status, body }: HttpAnswer): ToolError {
  const said = typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body);
  const line = said.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  const cut = cutText(line, MAX_EXCERPT_CHARS);
  return toolError(`HTTP ${status}: ${cut}`);
}

/** A person answers a call of a `space`, another backend one that is `external`; either with any JSON. */
function waitingTool(
  { executionType, isAsync, timeout }: ParsedTool,
  { at, common }: Placement,
  findings: Findings,
): Tool | undefined {
  if (isAsync === true && timeout !== undefined)
    findings.warn(below(at, 'timeout'), 'has no effect: the agent does not wait for an async tool');
  const answer = timeout ?? DEFAULT_TIMEOUT_MS;
  const wait =
    isAsync === true
      ? ({ mode: 'detach' } as const)
      : ({ timeouts: { answer: `${answer}ms` }, lateResult: 'inbox' } as const);
  return made(at, findings, () =>
    executionType === 'external'
      ? defineTool({ ...common, ...wait, executor: 'external' })
      : defineTool({
          ...common,
          ...wait,
          executor: 'human',
          output: jsonSchema({}),
          // The engine's own text for people differs.
          ...(isAsync === true ? {} : { onExpire: { default: { error: TEXTS.timeout(answer) } } }),
        }),
  );
}

/** Fields of the definition that a document has under another name. */
const NAMES: readonly (readonly [field: RegExp, name: string])[] = [
  [/^input(?=$|\.)/, 'inputSchema'],
  [/^(?=(?:url|method|headers)(?:$|\.))/, 'execution.'],
  [/^timeouts\.(?:run|answer)$/, 'timeout'],
];

function made(at: string, findings: Findings, define: () => unknown): Tool | undefined {
  const place = (field: string): string =>
    below(
      at,
      NAMES.reduce((name, [pattern, other]) => name.replace(pattern, other), field),
    );
  return findings.defined(define, place) as Tool | undefined;
}
