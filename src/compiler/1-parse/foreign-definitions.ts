/** Words that other languages begin a definition with, and what to write here. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ...words('Write `class Name { … }`.', 'interface struct model record dataclass schema message'),
  ...words('Write `function Name(x: string) -> Type { … }`.', 'def fn func method async'),
  ...words('All files of the directory are read together: nothing is imported.', 'import from include require use'),
  ...words('Write `template_string Name(…) #"…"#`.', 'prompt template macro'),
  ...words('Write `client<llm> Name { … }`.', 'provider llm model_client'),
  ...words('Write `type Name = A | B`.', 'union typedef alias'),
  ...words('Definitions are visible everywhere: remove the word.', 'export public default'),
]);

/** What to write in place of a word of another language that begins a definition; the empty text when it is none. */
export function adviceForDefinition(word: string): string {
  return ADVICE.get(word.toLowerCase()) ?? '';
}

function words(advice: string, list: string): ReadonlyArray<readonly [string, string]> {
  return list.split(' ').map((word) => [word, advice] as const);
}
