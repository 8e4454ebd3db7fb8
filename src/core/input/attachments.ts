/** The parts of a checked message, and their digest. Pure. */

import { textOf, type UserPart } from '../../protocol/conversation/messages.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import { canonicalJson, fingerprint } from '../../protocol/values/json.js';

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a message that has been checked: its text, then its attachments. */
export function messageParts(fields: Fields): readonly UserPart[] {
  const { text, attachments } = fields;
  const parts = Array.isArray(attachments)
    ? (attachments as readonly (ImagePart | FilePart)[])
    : [];
  return [{ type: 'text', text: String(text) }, ...parts];
}

/**
 * Identifies the content of a message. The digest of a text alone never changes, because digests are remembered across
 * versions.
 */
export function messageDigest(parts: readonly UserPart[], output: unknown): string {
  const isText = parts.every(({ type }) => type === 'text');
  const said = isText ? textOf(parts) : canonicalJson(parts);
  return fingerprint(output === undefined ? said : `${said} ${canonicalJson(output)}`);
}
