/** Files of a message that is being written. Pure. */
import type { SendMessageOptions } from 'colloquy/browser';

export type Attachment = NonNullable<SendMessageOptions['attachments']>[number];

export type StoredFile = Extract<Attachment['source'], { readonly blob: unknown }>['blob'];

export interface ChosenFile {
  readonly key: string;
  readonly name: string;
  readonly state: 'uploading' | 'stored' | 'failed';
  readonly problem?: string;
  readonly attachment?: Attachment;
}

/** As the API allows. */
export const MAX_FILES = 16;
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/;
/** The pictures that models read. */
const PICTURES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const MAX_NAME_CHARS = 255;

/** Why the page does not upload the file; undefined: nothing is against it. */
export function fileProblem(file: { readonly size: number }, count: number): string | undefined {
  if (count >= MAX_FILES) return `a message may have at most ${MAX_FILES} files`;
  if (file.size === 0) return 'the file is empty';
  return file.size > MAX_FILE_BYTES ? 'a file may have at most 16 MiB' : undefined;
}

/** The part of a message that names a stored file. */
export function attachmentOf(
  { name, type }: { readonly name: string; readonly type: string },
  blob: StoredFile,
): Attachment {
  const mediaType = MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
  const source = { blob };
  if (PICTURES.includes(mediaType)) return { type: 'image', source, mediaType };
  return { type: 'file', source, mediaType, filename: name.slice(-MAX_NAME_CHARS) };
}

/** A file or picture of a message in words. */
export function attachmentWords(part: Attachment): string {
  const name = part.type === 'file' ? part.filename : undefined;
  const kind = part.type === 'image' ? 'Picture' : 'File';
  return [kind, name ?? part.mediaType ?? ''].filter((text) => text !== '').join(': ');
}
