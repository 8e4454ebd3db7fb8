/** What the compiler says of a test's own code, at run time: a runner strips types, so that no type can fail a test. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const CONFIG = fileURLToPath(new URL('../tsconfig.json', import.meta.url));
const EXPECTED = /^\s*\/\/ @ts-expect-error.*$/gm;

export interface Refusal {
  readonly line: number;
  /** The first line of the message and the last: what does not fit, and why. */
  readonly message: string;
}

export interface CompiledTest {
  /** What does not compile in the test with this title, in order. @throws when there is no such test. */
  refusals(title: string): readonly Refusal[];
  /** Lines of that test that are marked as not to compile: those behind `@ts-expect-error`. */
  marked(title: string): readonly number[];
}

/** Compiles a test file as `tsc -p test` does, with nothing of it expected to fail. */
export function compileTest(url: string): CompiledTest {
  const file = fileURLToPath(url);
  const source = ts.sys.readFile(file) ?? '';
  // Lines stay where they are.
  const bare = source.replaceAll(EXPECTED, '//');
  const parsed = ts.getParsedCommandLineOfConfigFile(
    CONFIG,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  const options = { ...parsed?.options, incremental: false, skipLibCheck: true };
  delete options.tsBuildInfoFile;
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (name) => (name === file ? bare : readFile(name));
  const program = ts.createProgram([file], options, host);
  const checked = program.getSourceFile(file);
  if (checked === undefined) throw new Error(`${file} is not compiled`);
  const lineOf = (position: number): number => checked.getLineAndCharacterOfPosition(position).line;
  const refusals = program.getSemanticDiagnostics(checked).map(({ start, messageText }) => {
    const lines = ts.flattenDiagnosticMessageText(messageText, '\n').split('\n');
    const message = [...new Set([lines[0], lines.at(-1)])].map((line) => line?.trim()).join(' … ');
    return { line: lineOf(start ?? 0) + 1, message };
  });
  const within = (title: string): ((line: number) => boolean) => {
    const test = testCall(checked, title);
    const [first, last] = [lineOf(test.getStart()) + 1, lineOf(test.getEnd()) + 1];
    return (line) => line >= first && line <= last;
  };
  return {
    refusals: (title) => refusals.filter(({ line }) => within(title)(line)),
    marked: (title) =>
      source
        .split('\n')
        .flatMap((text, index) => (/^\s*\/\/ @ts-expect-error/.test(text) ? [index + 2] : []))
        .filter(within(title)),
  };
}

function testCall(file: ts.SourceFile, title: string): ts.Node {
  let found: ts.Node | undefined;
  const visit = (node: ts.Node): void => {
    const first = ts.isCallExpression(node) ? node.arguments[0] : undefined;
    if (first !== undefined && ts.isStringLiteralLike(first) && first.text === title) found = node;
    if (found === undefined) ts.forEachChild(node, visit);
  };
  visit(file);
  if (found === undefined) throw new Error(`no test "${title}"`);
  return found;
}
