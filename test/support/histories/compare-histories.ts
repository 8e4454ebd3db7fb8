/**
 * `npm run compare:histories -- <old folder> <new folder>` compares histories event by event. The first table has a
 * row for each file; the second has each change of a field, with the values of the first file that has it. Ids, times
 * and the names of conversations are not compared, and neither are tasks.
 */
import {
  attributesOf,
  type DecodedEvent,
  decodedEvents,
  historyFilesIn,
} from './decoded-history.js';

/** Fields of the server, the SDK and the clock, and digests of ids: no decision depends on them. */
const LEFT_OUT =
  /(?:EventId|RunId|Time)$|^(?:identity|requestId|workerVersion|sdkMetadata|meteringMetadata|historySizeBytes|protocolInstanceId|acceptedRequestMessageId|updateId|timerId|startToFireTimeout|firstWorkflowTaskBackoff|prevAutoResetPoints|prefixHash|hash|executionMs|chain|claimId)$/;
/** An id, digest or time, and the text that replaces it. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>'],
  [/turn_[0-9a-f]{12}_(\d+)_[0-9a-f]{6}/g, '<turn $1>'],
  [/(?:sha256:)?[0-9a-f]{64}|"(?=\d*[a-z])(?=[a-z]*\d)[0-9a-z]{8,12}"/g, '<digest>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/recorded-[a-z-]+/g, '<conversation>'],
];
/** Their places depend on the speed of the machine. */
const TASKS = /^(?:WORKFLOW_TASK_|ACTIVITY_TASK_STARTED)/;

/** Characters of a value that are shown. */
const SHOWN = 80;

interface ComparedEvent {
  readonly head: string;
  /** Path and value of each field. */
  readonly fields: ReadonlyMap<string, string>;
}

function comparedEvent({ type, name, content }: DecodedEvent): ComparedEvent {
  const fields = new Map<string, string>();
  const collect = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) {
        if (!LEFT_OUT.test(key))
          collect(inner, Array.isArray(value) ? `${path}[]` : `${path}.${key}`);
      }
    else fields.set(path, [fields.get(path), formOf(JSON.stringify(value))].join(' '));
  };
  collect(attributesOf(content), '');
  return { head: formOf(`${type} ${name}`), fields };
}

function formOf(text: string): string {
  return FORMS.reduce((whole, [form, shown]) => whole.replaceAll(form, shown), text);
}

/** Files by event, field and kind of change, with the first values. */
const changes = new Map<string, { readonly values: string; readonly files: Set<string> }>();

function compareFields(file: string, old: ComparedEvent, now: ComparedEvent): void {
  for (const path of new Set([...old.fields.keys(), ...now.fields.keys()])) {
    const [was, is] = [old.fields.get(path), now.fields.get(path)];
    if (was === is) continue;
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    const change = `${kind}: ${old.head} ${path}`;
    const values = [was, is].map((value = '') => value.trim().slice(0, SHOWN)).join(' -> ');
    const seen = changes.get(change) ?? { values, files: new Set() };
    changes.set(change, seen);
    seen.files.add(file);
  }
}

/** The entries of `one` that `other` lacks, or has less often. */
function without(one: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return one.filter((entry) => {
    const index = left.indexOf(entry);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

/** The comparison of the order of events, in words. */
async function compare(folders: readonly string[], file: string): Promise<string> {
  const read = async (folder: string): Promise<readonly ComparedEvent[]> =>
    (await decodedEvents(folder, file)).map(comparedEvent).filter(({ head }) => !TASKS.test(head));
  const [old = [], now = []] = await Promise.all(folders.map(read));
  const left = [...now];
  for (const event of old) {
    const index = left.findIndex(({ head }) => head === event.head);
    const [same] = index < 0 ? [] : left.splice(index, 1);
    if (same !== undefined) compareFields(file, event, same);
  }
  const [was, is] = [old, now].map((events) => events.map(({ head }) => head)) as [
    string[],
    string[],
  ];
  const [removed, added] = [without(was, is), without(is, was)];
  if (removed.length + added.length > 0)
    return `removed: ${removed.join(', ')}; added: ${added.join(', ')}`;
  return was.join() === is.join() ? 'same events' : 'same events in another order';
}

const folders = process.argv.slice(2);
if (folders.length !== 2) throw new Error('needs two folders: the old histories and the new ones');
const [before = [], after = []] = folders.map(historyFilesIn);
for (const file of [...new Set([...before, ...after])].sort()) {
  const isIn = [before, after].map((files) => files.includes(file));
  const result = isIn.every(Boolean)
    ? await compare(folders, file)
    : isIn[0] === true
      ? 'removed'
      : 'new';
  process.stdout.write(`| ${file} | ${result} |\n`);
}
process.stdout.write('\n');
for (const [change, { values, files }] of [...changes].sort()) {
  const [file = ''] = files;
  process.stdout.write(`| ${change} | ${values} | ${files.size === 1 ? file : files.size} |\n`);
}
