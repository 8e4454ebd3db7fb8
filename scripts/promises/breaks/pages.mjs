// The lines that keep promises about requests and keys of web pages.
export const OF_PAGES = [
  {
    promise: 'G426',
    file: 'src/browser/net/api.ts',
    line: 'const text = textOf(response, limit.heard);',
    to: 'limit.done(); const text = response.text();',
    test: 'test/unit/browser/send.test.ts',
  },
  {
    promise: 'G427',
    file: 'web/inbox/hooks/use-inbox.ts',
    line: 'else click(`#${DECISION_ID} .good`);',
    to: "else answerOpen(parts, { resolution: { type: 'approve' } });",
    test: 'test/components/faces/inbox.test.tsx',
  },
  {
    promise: 'G428',
    file: 'src/browser/net/api.ts',
    line: 'upMs: upMs(sent) });',
    to: 'upMs: 0 });',
    test: 'test/unit/browser/net/upload.test.ts',
  },
  {
    promise: 'G429',
    file: 'web/session/session.ts',
    line: 'timing: { maxPauseMs: 5_000 }',
    to: 'timing: { giveUpMs: 604_800_000, maxPauseMs: 5_000 }',
    test: 'test/components/faces/acts.test.tsx',
  },
  {
    promise: 'G430',
    file: 'web/chat/parts/composer.tsx',
    line: 'const used = useDraft(drafts, conversation.id);',
    to: 'const used = useDraft(drafts, id);',
    test: 'test/components/faces/chat.test.tsx',
  },
  {
    promise: 'G431',
    file: 'web/shared/boundary.tsx',
    line: 'return { failure: { error } };',
    to: 'throw error;',
    test: 'test/components/faces/boundary.test.tsx',
  },
  {
    promise: 'G432',
    file: 'web/session/session.ts',
    line: '    sessionStorage.setItem(KEY, token);\n    this.#caller = caller;',
    to: '    sessionStorage.setItem(KEY, token);',
    test: 'test/components/faces/sign-in.test.tsx',
  },
  {
    promise: 'G433',
    file: 'web/chat/hooks/use-end.ts',
    line: 'if (stays.current) toEnd(list.current);',
    to: 'if (stays.current && list.current !== null) list.current.scrollTop = 1e9;',
    test: 'test/components/faces/chat.test.tsx',
  },
];
