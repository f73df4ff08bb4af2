/** Highlights definition files. The names of scopes are those of TextMate grammars. */
export const definitionLanguage = {
  name: 'baml',
  // The last three are marks for the tests of docs/language.md.
  aliases: ['svc', 'expressions', 'template', 'wrong'],
  scopeName: 'source.baml',
  patterns: [
    { match: '//.*$', name: 'comment.line' },
    { begin: '(#+)"', end: '"\\1', name: 'string.quoted.raw', patterns: [{ include: '#template' }] },
    {
      begin: '"',
      end: '"',
      name: 'string.quoted.double',
      patterns: [{ match: '\\\\.', name: 'constant.character.escape' }],
    },
    { include: '#template' },
    { match: '@@?[\\w.]+', name: 'entity.name.function' },
    {
      match: '\\b(?:class|enum|function|client|retry_policy|test|template_string|type|generator|dynamic)\\b',
      name: 'keyword',
    },
    { match: '\\b(?:string|int|float|bool|null|image|audio|pdf|video|map|true|false)\\b', name: 'support.type' },
    { match: '\\benv\\.\\w+', name: 'variable.other' },
    { match: '\\b\\d+(?:\\.\\d+)?\\b', name: 'constant.numeric' },
    { match: '\\b[A-Z]\\w*', name: 'entity.name.type' },
  ],
  repository: {
    template: {
      patterns: [
        { begin: '\\{#', end: '#\\}', name: 'comment.block' },
        { begin: '\\{\\{|\\{%', end: '\\}\\}|%\\}', name: 'variable.parameter' },
      ],
    },
  },
};
