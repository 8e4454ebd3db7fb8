/** Files and images as parts of messages. Runs anywhere. */
import type { BlobRef } from './blobs.js';

/**
 * Location of the bytes of an image or file, which are never in the transcript. `fileId`: id of an upload at the
 * model's provider.
 */
export type FileSource =
  | { readonly url: string }
  | { readonly blob: BlobRef }
  | { readonly fileId: string };

export interface ImagePart {
  readonly type: 'image';
  readonly source: FileSource;
  /** Media type, such as `image/png`; needed where the source is a blob. */
  readonly mediaType?: string;
  /** Resolution at which the model reads the image. @defaultValue the provider's */
  readonly detail?: 'low' | 'high' | 'auto';
}

export interface FilePart {
  readonly type: 'file';
  readonly source: FileSource;
  /** Media type, such as `application/pdf`; needed where the source is a blob. */
  readonly mediaType?: string;
  readonly filename?: string;
}
