/** What a server's answer is to the model: a value, or an error in the server's words. Pure; runs in the worker. */
import { type ToolError, toolError } from '../../define/context.js';
import { isRecord, type Json, utf8Bytes } from '../../protocol/json.js';
import { MAX_REASON_CHARS } from '../../protocol/limits.js';
import { TEXTS } from '../../protocol/texts.js';
import { toJson } from '../normalise.js';

/**
 * | the server answers | the result |
 * |---|---|
 * | `structuredContent` | that |
 * | content | its texts, joined; images, sounds and files as a note of what they are, links with their address |
 * | neither | `null` |
 * | `isError` | an error with the texts |
 *
 * `unasked`: questions that the server pushed and that were cancelled; the model is told, or it would blame the user.
 */
export function resultOf(answer: unknown, unasked: readonly string[]): Json | ToolError {
  const { structuredContent, content, isError } = isRecord(answer) ? answer : {};
  const notes = unasked.map((question) => TEXTS.nobodyAsked(question));
  const text = [...textsOf(content), ...notes].join('\n');
  if (isError === true) {
    const said = text === '' ? errorText(structuredContent) : text;
    return toolError(said.slice(0, MAX_REASON_CHARS));
  }
  if (structuredContent !== undefined) return toJson(structuredContent);
  return text === '' ? null : text;
}

function errorText(structured: unknown): string {
  return structured === undefined
    ? 'The tool failed and its server gives no reason'
    : JSON.stringify(toJson(structured));
}

function textsOf(content: unknown): readonly string[] {
  return Array.isArray(content) ? (content as readonly unknown[]).map(textOf) : [];
}

function textOf(block: unknown): string {
  if (!isRecord(block)) return '';
  switch (block['type']) {
    case 'text':
      return stringIn(block, 'text');
    case 'image':
    case 'audio':
      return `[${block['type']}: ${mediaOf(block)}, ${base64Bytes(block['data'])} bytes, not shown]`;
    case 'resource_link':
      return `[resource: ${[stringIn(block, 'name'), stringIn(block, 'uri')].join(' ').trim()}]`;
    case 'resource':
      return resourceText(block['resource']);
    default:
      return `[${stringIn(block, 'type') || 'unknown content'}: not shown]`;
  }
}

function resourceText(resource: unknown): string {
  if (!isRecord(resource)) return '';
  const uri = stringIn(resource, 'uri');
  const { text, blob } = resource;
  if (typeof text === 'string') return `[resource: ${uri}]\n${text}`;
  return `[resource: ${uri}, ${mediaOf(resource)}, ${base64Bytes(blob)} bytes, not shown]`;
}

function mediaOf(block: Readonly<Record<string, unknown>>): string {
  return stringIn(block, 'mimeType') || 'unknown type';
}

function base64Bytes(data: unknown): number {
  return typeof data === 'string' ? Math.floor((utf8Bytes(data.replace(/=+$/, '')) * 3) / 4) : 0;
}

function stringIn(record: Readonly<Record<string, unknown>>, field: string): string {
  const value = record[field];
  return typeof value === 'string' ? value : '';
}
