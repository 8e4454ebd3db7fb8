/**
 * Checks, when a worker starts, that the search attributes are registered: an unregistered one fails the workflow task
 * of a conversation forever.
 */
import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../protocol/workflow/messaging.js';

/** Name and type of each attribute, as `temporal operator search-attribute create` expects them. */
export const SEARCH_ATTRIBUTE_TYPES: Readonly<Record<string, string>> = {
  [SEARCH_ATTRIBUTES.status]: 'Keyword',
  [SEARCH_ATTRIBUTES.agent]: 'Keyword',
  [SEARCH_ATTRIBUTES.tenant]: 'Keyword',
  [SEARCH_ATTRIBUTES.pendingTools]: 'KeywordList',
  [SEARCH_ATTRIBUTES.deadline]: 'Datetime',
};

export class MissingSearchAttributes extends Error {
  readonly code = 'search_attributes_missing';
  readonly missing: readonly string[];
  constructor(missing: readonly string[], namespace: string) {
    const flags = missing.map(
      (name) => `--name ${name} --type ${SEARCH_ATTRIBUTE_TYPES[name] ?? ''}`,
    );
    super(
      `Namespace "${namespace}" lacks search attributes: ${missing.join(', ')}. ` +
        `Register them: temporal operator search-attribute create ${flags.join(' ')} - ` +
        'or switch them off for workers and clients alike (searchAttributes: false, COLLOQUY_SEARCH_ATTRIBUTES=off).',
    );
    this.name = 'MissingSearchAttributes';
    this.missing = missing;
  }
}

/** @throws {MissingSearchAttributes} that names the missing attributes and how to register them. */
export async function requireSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
    namespace,
  });
  const known = Object.keys(customAttributes);
  const missing = Object.keys(SEARCH_ATTRIBUTE_TYPES).filter((name) => !known.includes(name));
  if (missing.length > 0) throw new MissingSearchAttributes(missing, namespace);
}
