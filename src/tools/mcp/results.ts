/**
 * Turns a server's result into one for the model: a value, with files beside it, or an error in the server's words.
 * Pure; runs in the worker.
 */
import { type ToolError, toolError } from '../../define/tool/context.js';
import { type ToolFile, type ToolFiles, withFiles } from '../../define/tool/files.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_ATTACHMENTS, MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { toJson } from '../shared/normalise.js';
import { bytesIn, filenameOf, type SentFile, toolFileOf } from './files.js';

/**
 * | the server returns | the result |
 * |---|---|
 * | `structuredContent` | that value |
 * | content | its texts, joined; for images, sounds and files a note that describes them, links with their address |
 * | neither | `null` |
 * | `isError` | an error with the texts |
 *
 * Images, sounds and files stand beside the result, in the order of their notes; for those that cannot be kept, the
 * note says why. `unasked`: questions that the server pushed and that were cancelled; the result mentions them, because
 * the model would otherwise blame the user. `clean` removes secrets from names of files; everything else still contains
 * them.
 */
export function resultOf(
  answer: unknown,
  unasked: readonly string[],
  clean: (text: string) => string = (text) => text,
): Json | ToolError | ToolFiles<Json> {
  const { structuredContent, content, isError } = isRecord(answer) ? answer : {};
  const files: Files = { made: [], clean };
  const notes = unasked.map((question) => TEXTS.cancelledQuestion(question));
  const text = [...textsOf(content, files), ...notes].join('\n');
  if (isError === true) {
    const said = text === '' ? errorText(structuredContent) : text;
    return toolError(cutText(said, MAX_REASON_CHARS));
  }
  const value = structuredContent === undefined ? textOrNull(text) : toJson(structuredContent);
  return files.made.length === 0 ? value : withFiles(value, files.made);
}

function textOrNull(text: string): Json {
  return text === '' ? null : text;
}

function errorText(structured: unknown): string {
  return structured === undefined
    ? 'The tool failed and its server gives no reason'
    : JSON.stringify(toJson(structured));
}

interface Files {
  readonly made: ToolFile[];
  readonly clean: (text: string) => string;
}

/** Adds files to `files`. */
function textsOf(content: unknown, files: Files): readonly string[] {
  if (!Array.isArray(content)) return [];
  return (content as readonly unknown[]).map((block) => textOf(block, files));
}

function textOf(block: unknown, files: Files): string {
  if (!isRecord(block)) return '';
  switch (block['type']) {
    case 'text':
      return stringIn(block, 'text');
    case 'image':
    case 'audio':
      return noteOf(block['type'], { data: block['data'], mediaType: mediaOf(block) }, files);
    case 'resource_link':
      return `[resource: ${[stringIn(block, 'name'), stringIn(block, 'uri')].join(' ').trim()}]`;
    case 'resource':
      return resourceText(block['resource'], files);
    default:
      return `[${stringIn(block, 'type') || 'unknown content'}: not shown]`;
  }
}

function resourceText(resource: unknown, files: Files): string {
  if (!isRecord(resource)) return '';
  const uri = stringIn(resource, 'uri');
  const { text, blob } = resource;
  if (typeof text === 'string') return `[resource: ${uri}]\n${text}`;
  const filename = filenameOf(files.clean(uri));
  const sent = { data: blob, mediaType: mediaOf(resource) };
  return noteOf(`resource: ${uri}`, filename === undefined ? sent : { ...sent, filename }, files);
}

function noteOf(what: string, sent: SentFile, files: Files): string {
  const made =
    files.made.length < MAX_ATTACHMENTS
      ? toolFileOf(sent)
      : { problem: `more than ${MAX_ATTACHMENTS} files` };
  const name = what.includes(':') ? `${what},` : `${what}:`;
  const about = `${name} ${sent.mediaType || 'unknown type'}, ${bytesIn(sent.data)} bytes`;
  if ('problem' in made) return `[${about}, not shown: ${made.problem}]`;
  files.made.push(made.file);
  return `[${about}]`;
}

function mediaOf(block: Readonly<Record<string, unknown>>): string {
  return stringIn(block, 'mimeType');
}

function stringIn(record: Readonly<Record<string, unknown>>, field: string): string {
  const value = record[field];
  return typeof value === 'string' ? value : '';
}
