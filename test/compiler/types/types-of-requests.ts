import { TypeCompiler } from '../../../src/compiler/compile-types.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import type { TypeExtension } from '../../../src/schema/type-extension.ts';
import type { Violation } from '../../../src/schema/violation.ts';

const DEFINITIONS = `
class Person {
  name string
  nick string? @alias(env.NICK)
  @@dynamic
  @@assert(named, {{ this.name != "" }})
}
class Fixed {
  id int
}
enum Kind {
  A
  @@dynamic
}
type Id = string | int
class Report {
  people Person[]
  kind Kind
}
retry_policy Often {
  max_retries 1
}
client<llm> Main {
  provider offline
}
template_string Greeting() #"hi"#
function Read(text: string, like: Person?) -> Report {
  client Main
  prompt #"{{ text }} {{ like }} {{ ctx.output_format }}"#
}
function Draw(from: Person) -> string {
  client Main
  prompt #"{{ from }}"#
}
`;

const compiler = new TypeCompiler([new SourceFile('main.svc', DEFINITIONS)]);

/** The extension for a `type_builder`; throws if it is refused. */
export function extensionOf(builder: unknown, functionName = 'Read'): TypeExtension {
  const compiled = compiler.compile(builder, functionName);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.failure));
  return compiled.value;
}

/** The faults of a `type_builder`; empty if it compiles. */
export function faultsOf(builder: unknown, functionName = 'Read'): readonly Violation[] {
  const compiled = compiler.compile(builder, functionName);
  return compiled.ok ? [] : compiled.failure;
}
