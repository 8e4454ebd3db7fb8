/**
 * The steps of a page: its blocks of code after a comment that says what to do with them. A block `text` after a
 * command is what the command prints, with `…` for anything.
 */
export type Step =
  | { readonly type: 'run'; readonly command: string; readonly prints: string | undefined }
  | { readonly type: 'keep'; readonly command: string; readonly until: string }
  | { readonly type: 'file'; readonly name: string; readonly content: string };

const BLOCK =
  /^<!-- (?:(run)|file (\S+)|keep running until "([^"]+)") -->\n```\w+\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms;

export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(BLOCK)].map(([, run, name, until, content = '', prints]): Step => {
    if (run !== undefined) return { type: 'run', command: content, prints };
    if (until !== undefined) return { type: 'keep', command: content, until };
    return { type: 'file', name: name ?? '', content };
  });
}

/** The blocks of commands and files of a page, whether they are steps or not. */
export function countOfBlocks(page: string): number {
  return [...page.matchAll(/^```(?!text)\w+$/gm)].length;
}

/** Matches what a command prints, without the space around it. */
export function patternOf(prints: string): RegExp {
  const parts = prints
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
