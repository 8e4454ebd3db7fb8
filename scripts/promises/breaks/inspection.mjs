// The lines that keep promises about looks into conversations, and about settings of the API.
export const OF_INSPECTION = [
  {
    promise: 'G423',
    file: 'src/projection/model-calls/derived.ts',
    line: '...(isSystem ? { system } : {}),',
    to: '...{},',
    test: 'test/unit/projection/model-calls/derived.test.ts',
  },
  {
    promise: 'G424',
    file: 'src/activities/model/call-model.ts',
    line: 'const owner = inCode.agent(name) === undefined ? { tenant } : {};',
    to: 'const owner = tenant === undefined ? { tenant } : {};',
    test: 'test/activities/audit/named-requests.test.ts',
  },
  {
    promise: 'G425',
    file: 'src/projection/model-calls/model-call.ts',
    line: 'if (context?.definition !== undefined)',
    to: 'if (context?.definition === null)',
    test: 'test/activities/audit/named-requests.test.ts',
  },
  {
    promise: 'G426',
    file: 'src/cli/serve/provider-files.ts',
    line: "if (typeof answer === 'boolean') return answer;",
    to: 'if (answer !== null) return Boolean(answer);',
    test: 'test/unit/cli/serve/provider-files.test.ts',
  },
];
