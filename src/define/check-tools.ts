/**
 * `checkTools`: advice on valid definitions. `defineTool` throws definition errors; this file finds faults that
 * otherwise only people would notice: texts by which a model cannot choose, effects that are not declared. Pure; runs
 * anywhere.
 */
import { isRecord, type JsonSchema } from '../protocol/values/json.js';
import type { AnyAgent } from './define-agent.js';
import { inputJsonSchema } from './schemas/schema.js';
import type { AnyTool } from './tool/types.js';

/** `error`: does not work as meant. `advice`: works, but makes the work of models or operators harder. */
export interface ToolFinding {
  readonly level: 'error' | 'advice';
  readonly tool: string;
  /** Stable name of the rule, to filter by. */
  readonly rule: ToolRule;
  readonly message: string;
}

export type ToolRule =
  | 'duplicate_name'
  | 'similar_name'
  | 'plain_name'
  | 'short_description'
  | 'same_description'
  | 'undescribed_field'
  | 'many_fields'
  | 'not_strict'
  | 'no_output'
  | 'unchecked_answer'
  | 'text_output'
  | 'undeclared_effects'
  | 'no_reconcile'
  | 'open_outcome';

/** Shorter texts say no more than the name does. */
const MIN_DESCRIPTION_CHARS = 15;
/** A tool with more fields does more than one thing. */
const MAX_FIELDS = 15;

/**
 * Checks an agent's tools, or a list of tools. Returns findings in their order, errors first within a tool; empty when
 * there are none. Has no effects; never runs a tool.
 */
export function checkTools(tools: AnyAgent | readonly AnyTool[]): readonly ToolFinding[] {
  const list = 'kind' in tools ? tools.tools : tools;
  return list.flatMap((tool, index) => {
    const before = list.slice(0, index);
    return [
      ...nameFindings(tool, before),
      ...textFindings(tool, before),
      ...strictFindings(tool),
      ...ruleFindings(tool),
    ];
  });
}

function finding(
  tool: AnyTool,
  level: ToolFinding['level'],
  about: Pick<ToolFinding, 'rule' | 'message'>,
): ToolFinding {
  return { level, tool: tool.name, ...about };
}

function nameFindings(tool: AnyTool, before: readonly AnyTool[]): readonly ToolFinding[] {
  const { name } = tool;
  const found: ToolFinding[] = [];
  if (before.some((other) => other.name === name))
    found.push(
      finding(tool, 'error', { rule: 'duplicate_name', message: 'another tool has this name' }),
    );
  else if (before.some((other) => plain(other.name) === plain(name)))
    found.push(
      finding(tool, 'advice', {
        rule: 'similar_name',
        message: 'differs from the name of another tool in case or punctuation only',
      }),
    );
  // The provider knows its tool by the type, not by the name.
  if (!name.includes('.') && tool.executor !== 'provider')
    found.push(
      finding(tool, 'advice', {
        rule: 'plain_name',
        message: 'has no namespace; "payments.refund" says more than "refund"',
      }),
    );
  return found;
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function textFindings(tool: AnyTool, before: readonly AnyTool[]): readonly ToolFinding[] {
  const { description, inputSchema } = tool;
  const found: ToolFinding[] = [];
  if (tool.executor === 'provider') return found;
  const isShort = description.trim().length < MIN_DESCRIPTION_CHARS;
  if (isShort || plain(description) === plain(tool.name))
    found.push(
      finding(tool, 'advice', {
        rule: 'short_description',
        message: `the description says too little to choose by: "${description}"`,
      }),
    );
  const same = before.find((other) => other.description.trim() === description.trim());
  if (same !== undefined)
    found.push(
      finding(tool, 'advice', {
        rule: 'same_description',
        message: `has the description of "${same.name}"`,
      }),
    );
  for (const field of undescribed(inputSchema, ''))
    found.push(
      finding(tool, 'advice', {
        rule: 'undescribed_field',
        message: `input field "${field}" has no description`,
      }),
    );
  const fields = fieldsOf(inputSchema);
  if (fields.length > MAX_FIELDS)
    found.push(
      finding(tool, 'advice', {
        rule: 'many_fields',
        message: `takes ${fields.length} fields; a tool should do one thing`,
      }),
    );
  return found;
}

/**
 * Advises on an input without a strict form. Its arguments are validated nevertheless; the model only gets them wrong
 * more often.
 */
function strictFindings(tool: AnyTool): readonly ToolFinding[] {
  const { notStrict } = tool;
  if (notStrict === undefined) return [];
  const message = `its input cannot be given in strict mode: ${notStrict}`;
  return [finding(tool, 'advice', { rule: 'not_strict', message })];
}

function fieldsOf(schema: JsonSchema): readonly (readonly [string, unknown])[] {
  const { properties } = schema;
  return isRecord(properties) ? Object.entries(properties) : [];
}

/** Fields without a description, at any depth, as paths such as `items[].id`; an object without one is listed, too. */
function undescribed(schema: JsonSchema, path: string): readonly string[] {
  const own = fieldsOf(schema).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    if (!isRecord(field)) return [at];
    return [...(isDescribed(field) ? [] : [at]), ...undescribed(field as JsonSchema, at)];
  });
  const { items } = schema;
  return isRecord(items) ? [...own, ...undescribed(items, `${path}[]`)] : own;
}

function isDescribed(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { description } = schema;
  return typeof description === 'string' && description.trim() !== '';
}

function ruleFindings(tool: AnyTool): readonly ToolFinding[] {
  switch (tool.executor) {
    case 'server':
      return [...outputFindings(tool), ...effectFindings(tool)];
    case 'client':
    case 'external':
      return tool.output === undefined ? [uncheckedAnswer(tool)] : [];
    case 'human':
    case 'provider':
    case 'internal':
      return [];
  }
}

/** Advises on a missing output schema, since values from outside are under foreign control. */
function uncheckedAnswer(tool: AnyTool): ToolFinding {
  const message = 'declares no output: any value that is submitted from outside reaches the model';
  return finding(tool, 'advice', { rule: 'unchecked_answer', message });
}

function outputFindings(tool: AnyTool): readonly ToolFinding[] {
  const { output } = tool;
  if (output === undefined)
    return [
      finding(tool, 'advice', {
        rule: 'no_output',
        message: 'declares no output: nothing checks that its results keep their shape',
      }),
    ];
  const { type } = inputJsonSchema(output).jsonSchema;
  if (type !== 'string') return [];
  const message = 'returns a text; an object names what is in it';
  return [finding(tool, 'advice', { rule: 'text_output', message })];
}

function effectFindings(tool: AnyTool): readonly ToolFinding[] {
  const { effects, declaresEffects, reconcile, onOutcomeUnknown, audience } = tool;
  const isGated = tool.approval.needed || tool.policy !== undefined;
  const found: ToolFinding[] = [];
  if (isGated && !declaresEffects)
    found.push(
      finding(tool, 'advice', {
        rule: 'undeclared_effects',
        message: 'is behind an approval and does not declare its effects: it may run twice',
      }),
    );
  if (effects === 'once' && reconcile === undefined && onOutcomeUnknown === 'tell')
    found.push(
      finding(tool, 'advice', {
        rule: 'no_reconcile',
        message: 'runs once and cannot report what a lost run did; give it reconcile, or hold it',
      }),
    );
  if (onOutcomeUnknown === 'hold' && audience === undefined)
    found.push(
      finding(tool, 'advice', {
        rule: 'open_outcome',
        message: 'any actor may report the outcome of a held call; give it an audience',
      }),
    );
  return found;
}
