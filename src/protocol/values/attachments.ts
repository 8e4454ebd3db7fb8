/** Files and images as parts of messages. Runs anywhere. */
import type { BlobRef } from './blobs.js';

/** Where the bytes of an image or file are: never in the transcript itself. `fileId`: as uploaded to the model's provider. */
export type FileSource =
  | { readonly url: string }
  | { readonly blob: BlobRef }
  | { readonly fileId: string };

export interface ImagePart {
  readonly type: 'image';
  readonly source: FileSource;
  /** Such as `image/png`; needed where the source is a blob. */
  readonly mediaType?: string;
  /** How closely the model looks. @defaultValue the provider's */
  readonly detail?: 'low' | 'high' | 'auto';
}

export interface FilePart {
  readonly type: 'file';
  readonly source: FileSource;
  /** Such as `application/pdf`; needed where the source is a blob. */
  readonly mediaType?: string;
  readonly filename?: string;
}
