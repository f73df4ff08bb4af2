import { didYouMean, didYouMeanOneOf } from '../../../base/suggestion.ts';
import type { GeneratorNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { entryValue, stringOf } from '../node-values.ts';
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
/** A version, or only its first number or its first two. */
const VERSION = /^(\d+)(?:\.(\d+))?(?:\.\d+(?:[-+][\w.+-]+)?)?$/;
/** The major version of the language that svc reads. */
const LANGUAGE = '0';

/**
 * A generator block is for this version of svc or, in a `*.baml` file, for a version of the language that svc reads. Other
 * tools generate clients from the block, and svc ignores it, so any other mistake is a warning.
 */
export const generators: Rule = (context) => {
  for (const node of context.scope.generators) {
    checkOutputType(context, node);
    checkMode(context, node);
    checkVersion(context, node);
  }
};

function checkOutputType({ report }: CheckContext, node: GeneratorNode): void {
  const value = entryValue(node.entries, 'output_type');
  const isMisspelt = node.entries.some((entry) => didYouMean(entry.key.text, ['output_type']) !== '');
  if (value === undefined && node.broken !== true && !isMisspelt) {
    const owner = `generator "${node.name.text}"`;
    report('check/missing-key', node.name.span, { name: 'output_type', owner, example: 'output_type "rest/openapi"' });
  }
  if (value?.kind !== 'string' || OUTPUT_TYPES.includes(value.value)) return;
  const suggestion = didYouMeanOneOf(value.value, OUTPUT_TYPES);
  report('check/unknown-output-type', value.span, { name: value.value, suggestion });
}

function checkMode({ report }: CheckContext, node: GeneratorNode): void {
  const value = entryValue(node.entries, 'default_client_mode');
  if (value?.kind !== 'string' || value.value === 'sync' || value.value === 'async') return;
  report('check/option-value', value.span, {
    name: 'default_client_mode',
    problem: 'has to be one of "sync", "async"',
  });
}

function checkVersion({ options, report }: CheckContext, node: GeneratorNode): void {
  const value = entryValue(node.entries, 'version');
  const asked = value && writtenText(value);
  if (value === undefined || asked === undefined) return;
  const [, major, minor] = VERSION.exec(asked) ?? [];
  if (major === undefined) return report('check/generator-version', value.span, { name: asked });
  const { file } = value.span;
  const isLanguage = file.endsWith('.baml');
  const [ownMajor, ownMinor] = isLanguage ? [LANGUAGE] : options.version.split('.');
  const agrees = major === ownMajor && (minor === undefined || ownMinor === undefined || minor === ownMinor);
  if (!options.versionCheck || agrees) return;
  report('check/version-mismatch', value.span, { file, asked, own: options.version, isLanguage });
}

/** Returns the text of a value with or without quotes, even if it begins like a number: `0.1.0`. */
function writtenText(value: ValueNode): string | undefined {
  if (value.kind === 'number' || value.kind === 'broken') return value.text;
  return stringOf(value);
}
