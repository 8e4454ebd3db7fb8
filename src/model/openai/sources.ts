/** Converts annotations of OpenAI's answers to sources of a text, and back. Pure. */
import type OpenAI from 'openai';
import type { TextSource } from '../../protocol/conversation/messages.js';
import { MAX_SOURCE_CHARS } from '../../protocol/limits/limits.js';
import { MAX_TEXT_SOURCES } from '../../protocol/limits/service-limits.js';
import { isRecord, type Json } from '../../protocol/values/json.js';

type Annotation = OpenAI.Responses.ResponseOutputText['annotations'][number];
type Fields = Readonly<Record<string, unknown>>;

/** Annotations of other kinds are left out. Chat Completions nests the fields of a citation, Responses does not. */
export function sourcesOf(annotations: unknown): readonly TextSource[] {
  if (!Array.isArray(annotations)) return [];
  return annotations
    .flatMap((annotation: unknown) => (isRecord(annotation) ? sourceOf(annotation) : []))
    .slice(0, MAX_TEXT_SOURCES);
}

function sourceOf(annotation: Fields): readonly TextSource[] {
  const nested = annotation['url_citation'];
  const fields = isRecord(nested) ? nested : annotation;
  const url = textAt(fields, 'url');
  const place = { ...numberAt(fields, 'start'), ...numberAt(fields, 'end') };
  // A truncated URL would lead elsewhere.
  if (url !== undefined && url.length <= MAX_SOURCE_CHARS) {
    const title = textAt(fields, 'title');
    return [{ type: 'url', url, ...(title === undefined ? {} : { title: cut(title) }), ...place }];
  }
  const fileId = textAt(fields, 'file_id');
  if (fileId === undefined || fileId.length > MAX_SOURCE_CHARS) return [];
  const filename = textAt(fields, 'filename');
  const containerId = textAt(fields, 'container_id');
  const { index } = fields;
  return [
    {
      type: 'file',
      fileId,
      ...(filename === undefined ? {} : { filename: cut(filename) }),
      ...(containerId === undefined ? {} : { containerId: cut(containerId) }),
      ...(typeof index === 'number' ? { startIndex: index, endIndex: index } : {}),
      ...place,
    },
  ];
}

function textAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

function cut(text: string): string {
  return text.slice(0, MAX_SOURCE_CHARS);
}

function numberAt(fields: Fields, end: 'start' | 'end'): Partial<Record<string, number>> {
  const value = fields[`${end}_index`];
  return typeof value === 'number' ? { [`${end}Index`]: value } : {};
}

/** The annotations in the form of the Responses API. */
export function toAnnotations(sources: readonly TextSource[]): Json[] {
  return sources.map((source) => ({ ...toAnnotation(source) }));
}

function toAnnotation(source: TextSource): Annotation {
  const { startIndex = 0, endIndex = startIndex } = source;
  if (source.type === 'url')
    return {
      type: 'url_citation',
      url: source.url,
      title: source.title ?? '',
      start_index: startIndex,
      end_index: endIndex,
    };
  const { fileId: file_id, filename = '', containerId: container_id } = source;
  return container_id === undefined
    ? { type: 'file_citation', file_id, filename, index: startIndex }
    : {
        type: 'container_file_citation',
        file_id,
        filename,
        container_id,
        start_index: startIndex,
        end_index: endIndex,
      };
}
