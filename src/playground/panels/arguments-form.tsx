import { useMemo } from 'preact/hooks';
import type { VNode } from 'preact';
import { ownValue, type JsonValue } from '../../base/json.ts';
import { withMember } from '../data/argument-values.ts';
import { childPath } from '../data/diff-values.ts';
import { Field, ValueInput } from '../form/field.tsx';
import { FormContext } from '../form/form-context.ts';
import type { ErrorBody } from '../server/wire.ts';
import type { Draft, DraftActions } from '../state/use-draft.ts';

interface ArgumentsFormProps {
  readonly draft: Draft;
  readonly actions: DraftActions;
  /** What the server reports about the arguments. */
  readonly problem: ErrorBody | undefined;
}

/** A form with a field for each parameter. */
export function ArgumentsForm({ draft, actions, problem }: ArgumentsFormProps): VNode {
  const { args, fn, types } = draft;
  const errors = useMemo(() => errorsByPath(problem), [problem]);
  const form = useMemo(() => ({ types, errors, Field, Value: ValueInput }), [types, errors]);
  if (fn.parameters.length === 0) return <p class="quiet">This function has no parameters.</p>;
  return (
    <FormContext.Provider value={form}>
      <div class="form" key={fn.name}>
        {fn.parameters.map(({ name, type, description }) => (
          <Field
            key={name}
            label={name}
            type={type}
            description={description}
            path={childPath('', name)}
            value={ownValue(args, name) as JsonValue | undefined}
            onChange={(value) => actions.setArgs(withMember(args, name, value))}
          />
        ))}
      </div>
    </FormContext.Provider>
  );
}

/** The first message about each value. */
function errorsByPath(problem: ErrorBody | undefined): ReadonlyMap<string, string> {
  const details = problem?.error === 'invalid_argument' ? (problem.details ?? []) : [];
  return new Map(details.toReversed().map(({ path, message }) => [path, message] as const));
}
