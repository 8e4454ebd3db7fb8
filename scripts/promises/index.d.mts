/** Types of index.mjs, for its tests. */
import type { ListedPromise, PromiseLists, Topic } from './list.mjs';

export { listFaults, readPromises } from './list.mjs';

export interface Tag {
  readonly id: string;
  readonly titles: readonly string[];
  readonly line: number;
  readonly isSkipped: boolean;
}
export interface TagsOfFile {
  readonly tags: readonly Tag[];
  readonly most: ReadonlyMap<string, number>;
  readonly faults: readonly { readonly line: number; readonly message: string }[];
}
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly tags: readonly string[];
    }[];
  }[];
}
export function tagsIn(
  source: string,
  how?: { readonly isShared?: boolean; readonly hasMarkup?: boolean },
): TagsOfFile;
export function sourceFaults(
  lists: PromiseLists,
  sources: readonly (TagsOfFile & { readonly file: string })[],
): readonly { readonly file: string; readonly line?: number; readonly message: string }[];
export function reportFaults(
  report: Report,
  about: {
    readonly promises: readonly ListedPromise[];
    readonly files: ReadonlyMap<string, ReadonlySet<string>>;
    readonly isWhole: boolean;
  },
): readonly { readonly id: string; readonly message: string }[];
export function pageOf(
  kind: 'guarantees' | 'requirements',
  of: {
    readonly topics: readonly Topic[];
    readonly tags: ReadonlyMap<
      string,
      readonly { readonly file: string; readonly titles: readonly string[] }[]
    >;
  },
): string;
