/** Bounds of what an agent keeps and reads by its tools for spaces; `docs/spaces.md` lists them. */

/** The name of an entity whose conversations share goals and memories. */
export const MAX_ENTITY_CHARS = 200;
/** Goals, and memories, of one conversation or entity. */
export const MAX_NOTES = 200;
/** Goals and memories of one conversation or entity together, as JSON. */
export const MAX_NOTES_BYTES = 64 * 1024;
/** Goals and memories that one call sets or deletes; plans as well. */
export const MAX_NOTES_AT_ONCE = 50;
export const MAX_NOTE_KEY_CHARS = 128;
export const MAX_NOTE_CHARS = 4_000;
/** The part of goals and memories that each model call reads. */
export const MAX_NOTES_CONTEXT_BYTES = 16 * 1024;
/** Names of notes that the context had to leave out. */
export const MAX_CUT_NAMES = 20;
/** Plans that one conversation has at a time: triggers, of which it may have 20. */
export const MAX_PLANS = 10;
/** Messages of a space in one result, as JSON. */
export const MAX_HISTORY_BYTES = 64 * 1024;
/** Input, output and error of a call in such a result, each as JSON; of a larger one so many characters. */
export const MAX_READ_BYTES = 2 * 1024;
export const MAX_READ_CHARS = 1_000;
/** Input, and output, of a call in the metadata of its message, as JSON. */
export const MAX_SHOWN_BYTES = 24 * 1024;
/** Characters of the JSON of a larger one that are shown. */
export const MAX_SHOWN_CHARS = 4_000;
