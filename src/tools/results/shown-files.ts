/** Files that a tool shows beside its result: validated, and stored if given as bytes. Runs in the worker. */

import type { ToolFile } from '../../define/tool/files.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';
import { attachmentProblems } from '../../protocol/values/attachments.js';
import type { LargeResults } from './large-results.js';

export type ShownFiles =
  | { readonly problem: string }
  | { readonly files: readonly (ImagePart | FilePart)[]; readonly notice?: string };

/** Leaves out files that cannot be stored now, and mentions them in the notice. Never throws. */
export async function shownFiles(
  given: readonly ToolFile[],
  large: LargeResults | undefined,
): Promise<ShownFiles> {
  const [problem] = attachmentProblems(given.map(judged));
  if (problem !== undefined)
    return { problem: `${problem.path.replace('/attachments', 'files')} ${problem.message}` };
  const files: (ImagePart | FilePart)[] = [];
  for (const file of given) {
    const { source } = file;
    const kept = 'bytes' in source ? await storedSource(source.bytes, large) : source;
    if (kept !== undefined) files.push({ ...file, source: kept });
  }
  const lost = given.length - files.length;
  return lost === 0 ? { files } : { files, notice: TEXTS.filesNotStored(lost) };
}

/** Validates bytes as the stored value that they will become. */
function judged(file: ToolFile): unknown {
  const { source } = file as Partial<ToolFile>;
  if (typeof source !== 'object' || !('bytes' in source)) return file;
  if (!(source.bytes instanceof Uint8Array)) return { ...file, source: {} };
  const blob = { id: '0'.repeat(64), bytes: 0, type: 'application/octet-stream' };
  return { ...file, source: { blob } };
}

async function storedSource(
  bytes: Uint8Array,
  large: LargeResults | undefined,
): Promise<ImagePart['source'] | undefined> {
  const blob = await large?.keepFile?.(bytes);
  return blob === undefined ? undefined : { blob };
}
