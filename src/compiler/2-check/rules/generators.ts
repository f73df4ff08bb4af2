import { didYouMean, didYouMeanOneOf } from '../../../base/suggestion.ts';
import type { GeneratorNode } from '../../1-parse/syntax-nodes.ts';
import { entryValue } from '../node-values.ts';
import type { CheckContext, Rule } from '../check-context.ts';

const OUTPUT_TYPES = [
  'python/pydantic',
  'python/pydantic/v1',
  'typescript',
  'typescript/react',
  'ruby/sorbet',
  'rest/openapi',
  'go',
  'rust',
  'boundary-cloud',
];
const VERSION = /^(\d+)\.(\d+)\.\d+(?:[-+][\w.+-]+)?$/;

/** A generator block, from which other tools generate clients, is well-formed and is for this version of svc. */
export const generators: Rule = (context) => {
  for (const node of context.scope.generators) {
    checkStrings(context, node);
    checkOutputType(context, node);
    checkMode(context, node);
    checkVersion(context, node);
  }
};

function checkStrings({ report }: CheckContext, node: GeneratorNode): void {
  for (const { key, value } of node.entries) {
    const isString = value?.kind === 'string' && value.quoted;
    if (value === undefined || isString || value.kind === 'broken' || value.kind === 'raw-string') continue;
    report('check/option-value', value.span, { name: key.text, problem: 'has to be a string in quotes' });
  }
}

function checkOutputType({ report }: CheckContext, node: GeneratorNode): void {
  const value = entryValue(node.entries, 'output_type');
  const isBroken = node.broken === true;
  if (
    value === undefined &&
    !isBroken &&
    !node.entries.some((entry) => didYouMean(entry.key.text, ['output_type']) !== '')
  ) {
    const owner = `generator "${node.name.text}"`;
    report('check/missing-key', node.name.span, { name: 'output_type', owner, example: 'output_type "rest/openapi"' });
  }
  if (value?.kind !== 'string' || OUTPUT_TYPES.includes(value.value)) return;
  const suggestion = didYouMeanOneOf(value.value, OUTPUT_TYPES);
  report('check/unknown-output-type', value.span, { name: value.value, suggestion });
}

function checkMode({ report }: CheckContext, node: GeneratorNode): void {
  const value = entryValue(node.entries, 'default_client_mode');
  if (value?.kind !== 'string' || !value.quoted || value.value === 'sync' || value.value === 'async') return;
  report('check/option-value', value.span, {
    name: 'default_client_mode',
    problem: 'has to be one of "sync", "async"',
  });
}

function checkVersion({ options, report }: CheckContext, node: GeneratorNode): void {
  const value = entryValue(node.entries, 'version');
  if (value?.kind !== 'string') return;
  const required = VERSION.exec(value.value);
  const own = VERSION.exec(options.version);
  if (required === null) return report('check/generator-version', value.span, { name: value.value });
  const agrees = required[1] === own?.[1] && required[2] === own?.[2];
  if (!options.versionCheck || agrees) return;
  report('check/version-mismatch', value.span, { file: value.span.file, asked: value.value, own: options.version });
}
