/** The files of the message that is being written: each is stored as soon as it is chosen. */
import type { BrowserConversation } from 'colloquy/browser';
import { whyOf } from '../../shared/why.js';
import { attachmentOf, type ChosenFile, fileProblem } from '../model/files.js';
import type { UsedDraft } from './drafts.js';

export interface UsedFiles {
  readonly add: (files: readonly File[]) => void;
  readonly remove: (key: string) => void;
}

let made = 0;

/** An upload goes on while another conversation is shown. */
export function filesOf(
  conversation: BrowserConversation,
  { draft, change }: UsedDraft,
): UsedFiles {
  const setFiles = (next: (before: readonly ChosenFile[]) => readonly ChosenFile[]): void =>
    change(({ files }) => ({ files: next(files) }));
  const set = (changed: ChosenFile): void =>
    setFiles((before) => before.map((one) => (one.key === changed.key ? changed : one)));
  const store = async (key: string, file: File): Promise<void> => {
    const { name } = file;
    try {
      const blob = await conversation.upload(file);
      set({ key, name, state: 'stored', attachment: attachmentOf(file, blob) });
    } catch (error) {
      set({ key, name, state: 'failed', problem: whyOf(error) });
    }
  };
  const add = (chosen: readonly File[]): void => {
    let count = draft.files.length;
    for (const file of chosen) {
      made += 1;
      const key = `file-${made}`;
      const problem = fileProblem(file, count);
      const state = problem === undefined ? 'uploading' : 'failed';
      const one = { key, name: file.name, state, ...(problem === undefined ? {} : { problem }) };
      setFiles((before) => [...before, one as ChosenFile]);
      if (problem !== undefined) continue;
      count += 1;
      void store(key, file);
    }
  };
  return {
    add,
    remove: (key) => setFiles((before) => before.filter((one) => one.key !== key)),
  };
}
