/**
 * The newest revision of the core's decisions. `docs/revisions.md` lists the changes of each; a new one is a row there.
 */
export const CORE_REVISION = 1;
