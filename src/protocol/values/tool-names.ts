/**
 * Tool names. A tool's own name may be dotted (`notes.search`); providers allow `^[a-zA-Z0-9_-]{1,64}$`. A dot travels
 * as two underscores, so two underscores in a row, or an underscore beside a dot, are not allowed in names: the
 * encoding is reversible by construction.
 */
import { MAX_WIRE_NAME_CHARS } from '../limits/service-limits.js';

const SEGMENT = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;

/** The reason why a name cannot be used for a tool; undefined when it can. */
export function toolNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'name must be a non-empty string';
  const segments = name.split('.');
  if (!segments.every((segment) => SEGMENT.test(segment)))
    return `name "${name}" must be words of letters, digits and "-", joined by single "_" or "."`;
  const wire = toWireName(name);
  if (wire.length > MAX_WIRE_NAME_CHARS)
    return `name "${name}" has ${wire.length} characters on the wire ("." counts twice); at most ${MAX_WIRE_NAME_CHARS}`;
  return undefined;
}

export function toWireName(name: string): string {
  return name.replaceAll('.', '__');
}

export function fromWireName(wireName: string): string {
  return wireName.replaceAll('__', '.');
}
