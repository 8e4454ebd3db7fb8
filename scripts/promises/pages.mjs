// The pages of docs/generated: a table for each topic, with the tests that show each promise, from the source of the
// test files.

const HEAD =
  '<!-- Written by `npm run docs:promises` from test/promises and the tags of the tests. Do not edit. -->';

const INTRODUCTION = {
  guarantees: `# Guarantees and their tests

Every promise with the tests that show it. [Guarantees](../guarantees.md) has them in short, and the limits. A test
belongs to a promise by its tag, \`promise('G1')\`; \`npx vitest run --tags-filter G1\` runs the tests of one. \`%s\`
stands for what a table of tests fills in; where the last title is \`...\`, all tests of the group belong to the promise.`,
  requirements: `# Requirements and their tests

Colloquy does what four earlier systems promise of their tools, as far as these promises can be kept together. This
page says for each promise which tests show it. The number of a promise is the one by which the engine's design knows
it; the words are ours, and short.

- **A** is Agentix, a library that runs each conversation as an event-sourced process with one way to suspend a call.
- **H** is Hsafa, a gateway for agents that live in shared spaces and whose tools are JSON documents.
- **C** is agentic-core, a loop of prompts and plugins with typed tools and approvals.
- **X** is Aptix, a backend whose tools say whether the server finishes them or a client does.
- **S** are scenarios that these promises imply together; **N** are rules that they imply, **T** those of Temporal,
  **K** conflicts between them and how each is settled, **2.A**, **2.H**, **2.C** and **2.X** what is around the
  sources. A rule or a paragraph may be shown by the tests of the promises that it names.

Every number stands here exactly once, with its tests, or with the mark _later_ or _not applicable_ and a reason;
\`npm run docs:check\` fails otherwise. _Later_ after tests means that the rest of the promise is still to come.`,
};

const MARKS = { later: 'later', notApplicable: 'not applicable', withdrawn: 'withdrawn' };

/** The text of a page. \`tags\` is a Map from an id to its tags, each \`{file, titles, isGroup}\`. */
export function pageOf(kind, { topics, tags }) {
  const parts = topics.flatMap((topic) => ['', `## ${topic.topic}`, '', ...tableOf(topic, tags)]);
  return `${[HEAD, '', INTRODUCTION[kind], ...parts].join('\n')}\n`;
}

function tableOf({ columns, promises }, tags) {
  const rule = '|---'.repeat(columns.length + 2);
  return [
    row(['Id', ...columns, 'Tests']),
    `${rule}|`,
    ...promises.map((promise) =>
      row([
        promise.id,
        ...wordsOf(promise).map(escaped),
        proofOf(promise, tags.get(promise.id) ?? []),
      ]),
    ),
  ];
}

function wordsOf({ when, user, words }) {
  return words === undefined ? [when, user] : [words];
}

/** The tests by file, followed by the mark with its reason. */
function proofOf(promise, tags) {
  const files = new Map();
  for (const { file, titles } of tags)
    files.set(file, [...(files.get(file) ?? []), code(titles.join(' > '))]);
  const tests = [...files].map(
    ([file, titles]) => `${code(file.replace(/^test\//, ''))}: ${titles.join(', ')}`,
  );
  const marks = Object.entries(MARKS)
    .filter(([mark]) => promise[mark] !== undefined)
    .map(([mark, words]) => `_${words}_: ${escaped(promise[mark])}`);
  const others = promise.by === undefined ? [] : [`the tests of ${promise.by.join(', ')}`];
  return [...tests, ...others, ...marks].join('; ');
}

function row(cells) {
  return `| ${cells.join(' | ')} |`;
}

function escaped(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Escapes bars, which tables require in code as well. */
function code(text) {
  const bars = escaped(text);
  return text.includes('`') ? `\`\` ${bars} \`\`` : `\`${bars}\``;
}
