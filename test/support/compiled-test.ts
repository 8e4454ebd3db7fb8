/**
 * Compiles a test file while its tests run: the runner strips types, so that without this no type can make a test fail.
 */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const CONFIG = fileURLToPath(new URL('../tsconfig.json', import.meta.url));
const EXPECTED = /^\s*\/\/ @ts-expect-error.*$/;

export interface Refusal {
  readonly line: number;
  /** The first and the last line of the message: the code that is refused, and the reason. */
  readonly message: string;
}

export interface CompiledTest {
  /** Code that does not compile in the test with this title, in its order. @throws when there is no such test */
  refusals(title: string): readonly Refusal[];
  /** Lines of that test that must not compile: those behind `@ts-expect-error`. */
  marked(title: string): readonly number[];
}

/** Compiles a test file with the settings of `tsc -p test`, except that `@ts-expect-error` expects nothing. */
export function compileTest(url: string): CompiledTest {
  const file = fileURLToPath(url);
  const lines = (ts.sys.readFile(file) ?? '').split('\n');
  // Every line keeps its number.
  const bare = lines.map((line) => (EXPECTED.test(line) ? '//' : line)).join('\n');
  const program = programOf(file, bare);
  const checked = program.getSourceFile(file);
  if (checked === undefined) throw new Error(`${file} is not compiled`);
  const lineAt = (position: number): number =>
    checked.getLineAndCharacterOfPosition(position).line + 1;
  const refusals = program.getSemanticDiagnostics(checked).map(({ start = 0, messageText }) => ({
    line: lineAt(start),
    message: shortened(messageText),
  }));
  const within = (title: string): ((line: number) => boolean) => {
    const test = testCall(checked, title);
    const [first, last] = [lineAt(test.getStart()), lineAt(test.getEnd())];
    return (line) => line >= first && line <= last;
  };
  return {
    refusals: (title) => {
      const isOfTest = within(title);
      return refusals.filter(({ line }) => isOfTest(line));
    },
    marked: (title) =>
      lines
        .flatMap((line, index) => (EXPECTED.test(line) ? [index + 2] : []))
        .filter(within(title)),
  };
}

/** A program in which the file has this text. */
function programOf(file: string, text: string): ts.Program {
  const parsed = ts.getParsedCommandLineOfConfigFile(
    CONFIG,
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  const options = { ...parsed?.options, incremental: false, skipLibCheck: true };
  delete options.tsBuildInfoFile;
  const host = ts.createCompilerHost(options);
  const { readFile } = host;
  host.readFile = (name) => (name === file ? text : readFile(name));
  return ts.createProgram([file], options, host);
}

function shortened(message: string | ts.DiagnosticMessageChain): string {
  const lines = ts.flattenDiagnosticMessageText(message, '\n').split('\n');
  return [...new Set([lines[0], lines.at(-1)])].map((line) => line?.trim()).join(' … ');
}

function testCall(file: ts.SourceFile, title: string): ts.Node {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    const first = ts.isCallExpression(node) ? node.arguments[0] : undefined;
    if (first !== undefined && ts.isStringLiteralLike(first) && first.text === title)
      found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  const [test] = found;
  if (test === undefined || found.length > 1) throw new Error(`${found.length} tests "${title}"`);
  return test;
}
