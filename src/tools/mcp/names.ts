/**
 * Names of listed tools. Servers may use any name; the engine's names travel to providers and back. A valid name is
 * kept; any other gets a digest, so that two never become one. Pure; runs in the worker.
 */
import { createHash } from 'node:crypto';
import { MAX_WIRE_NAME_CHARS } from '../../protocol/limits/service-limits.js';
import { toolNameProblem, toWireName } from '../../protocol/values/tool-names.js';

const DIGEST_CHARS = 8;

/** `<server>.<tool>`. The same for the same input, on every worker and forever. */
export function prefixedName(server: string, tool: string): string {
  const name = `${server}.${tool}`;
  return toolNameProblem(name) === undefined ? name : digestedName(server, tool);
}

/** The tool's own name if it is valid, else as with a prefix. */
export function plainName(server: string, tool: string): string {
  return toolNameProblem(tool) === undefined ? tool : prefixedName(server, tool);
}

/** For a tool whose name is invalid or taken. */
export function digestedName(server: string, tool: string): string {
  const digest = createHash('sha256').update(tool).digest('hex').slice(0, DIGEST_CHARS);
  const maxChars = MAX_WIRE_NAME_CHARS - toWireName(`${server}.`).length - DIGEST_CHARS - 1;
  const words = tool
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, maxChars)
    .replace(/_+$/, '');
  return `${server}.${words === '' ? '' : `${words}-`}${digest}`;
}
