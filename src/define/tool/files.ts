/** Images and files that a tool shows the model beside its result. Runs in the worker. */
import type { FilePart, ImagePart } from '../../protocol/values/attachments.js';

/** Bytes of a file that the tool has made; they are stored beside the log, and history holds a reference. */
export interface FileBytes {
  readonly bytes: Uint8Array;
}

/**
 * An image or file, given by address, by its id at the model's provider, by reference to a stored value, or with its
 * bytes.
 */
export type ToolFile =
  | (Omit<ImagePart, 'source'> & { readonly source: ImagePart['source'] | FileBytes })
  | (Omit<FilePart, 'source'> & { readonly source: FilePart['source'] | FileBytes });

const BRAND = 'colloquy.tool-files';

/** A result with the files shown beside it. */
export class ToolFiles<Result> {
  readonly brand = BRAND;
  readonly result: Result;
  readonly files: readonly ToolFile[];

  constructor(result: Result, files: readonly ToolFile[]) {
    this.result = result;
    this.files = files;
  }
}

/**
 * Makes the return value of a tool that shows images or files beside its result, at most 16: `return withFiles({pages:
 * 3}, [{type: 'image', source: {bytes}, mediaType: 'image/png'}])`. Only the result is validated by `output`. A model
 * that takes no files of tools reads their references.
 */
export function withFiles<Result>(result: Result, files: readonly ToolFile[]): ToolFiles<Result> {
  return new ToolFiles(result, files);
}

/** True also for instances of another copy of this package. */
export function isToolFiles(value: unknown): value is ToolFiles<unknown> {
  return (
    value instanceof ToolFiles ||
    (typeof value === 'object' && value !== null && 'brand' in value && value.brand === BRAND)
  );
}
