/** The newest revision of the core's decisions. `docs/revisions.md` says how a change of decisions gets the next one. */
export const CORE_REVISION = 3;
