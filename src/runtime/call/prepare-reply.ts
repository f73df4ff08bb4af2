import { OPTIONS_KEYS, isJsonObject, ownValue } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../schema/failure.ts';
import type { TypeSource } from '../../schema/type-extension.ts';
import { ViolationList, type Violation } from '../../schema/violation.ts';
import { readReplyOptions } from './call-options.ts';
import { withTypes } from './dynamic-types.ts';
import type { OnLoss } from './losses.ts';
import type { LoadedTypes, PreparedReply } from './runtime.ts';

const ALLOWED: ReadonlySet<string> = new Set(['text', 'explain', ...OPTIONS_KEYS]);

interface ReplySettings {
  /** The default for requests without `on_loss`. */
  readonly onLoss: OnLoss;
  readonly typeSource: TypeSource | undefined;
  readonly loaded: LoadedTypes;
}

/** Checks the body of a request to parse a reply. */
export function prepareReply(
  functionName: string,
  body: unknown,
  { onLoss, typeSource, loaded }: ReplySettings,
): Result<PreparedReply, Failure> {
  if (!isJsonObject(body)) return err(invalidBody([{ path: '', message: 'the body has to be a JSON object' }]));
  const text = ownValue(body, 'text');
  const faults = new ViolationList();
  if (typeof text !== 'string') faults.add(NO_TEXT);
  const explain = ownValue(body, 'explain');
  if (explain !== undefined && typeof explain !== 'boolean')
    faults.add({ path: 'explain', message: 'has to be true or false' });
  for (const path of Object.keys(body)) {
    if (faults.full) break;
    if (!ALLOWED.has(path)) faults.add({ path, message: 'is unknown; allowed: text, explain, svc_options' });
  }
  if (typeof text !== 'string' || faults.all.length > 0) return err(invalidBody(faults.all));
  const options = withTypes(readReplyOptions(body, { typeSource }), loaded);
  return options.ok ? ok({ functionName, text, explain: explain === true, onLoss, ...options.value }) : options;
}

const NO_TEXT: Violation = { path: 'text', message: 'has to be a string: the reply of a model' };

/** The message of a failure lists the first faults; the failure lists up to a hundred. */
const LISTED = 3;

function invalidBody(details: readonly Violation[]): Failure {
  const first = details
    .slice(0, LISTED)
    .map(({ path, message }) => (path === '' ? message : `"${path}" ${message}`))
    .join('; ');
  const more = details.length > LISTED ? ` (and ${details.length - LISTED} more)` : '';
  return { code: 'invalid_argument', message: `${first}${more}.`, details };
}
