/**
 * Revisions of what the core decides. A conversation keeps the one that it was started under: its histories are replayed, and
 * must give what they gave then. Add a row; never change what a revision means.
 *
 * | revision | what is new |
 * |---|---|
 * | absent | |
 * | 1 | a request id names one request; an extension never shortens the grace; calls that are answered late are kept; no warning of an end that has come, no time limit of a turn that stops already; the time of a call in all bounds the pauses between its runs |
 * | 2 | what attempts of a model call took that came to nothing is counted, and so is a call that failed or was stopped, in the end of its turn, too |
 * | 3 | a call that comes to wait for a person while a message waits is set aside at once, unless that message said itself that it can wait; a message that was left as a signal waits only where the agent rejects messages; a declined question is no failure of a tool |
 * | 4 | messages that lie in the blob store count for bounds of payloads by what stands for them: they are left behind, and left out, only beyond `MAX_STORED_TRANSCRIPT_BYTES`; the error of a turn that is too large names its size |
 * | 5 | attempts of a model call that came to nothing stand in its event; a call that failed for good has one, whatever it took |
 * | 6 | results of people, clients and other backends may come with files |
 * | 7 | calls that come to wait, ask anew or are detached hold at most `MAX_WAITING_BYTES` with those that wait, and what is beyond is an error of the call; a model call that is made again for want of messages is made before its run rolls over |
 * | 8 | whoever joins a turn is among the requesters of its detached calls, also of those that were made before |
 * | 9 | attempts of a summary that came to nothing stand in its event |
 * | 10 | finished steps of a running turn are stored like whole turns: a turn holds `MAX_STORED_TRANSCRIPT_BYTES`, of which `MAX_TRANSCRIPT_BYTES` may lie in its run; results of one step are several messages where they are too large for one |
 */
export const CORE_REVISION = 10;
