import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Recorded exchanges with providers, one file for each provider: `=== name`, then sections that begin with `--- section`.
 * `exchanges.test.ts` describes the sections.
 */
const FOLDER = fileURLToPath(new URL('../runtime/model/exchanges/', import.meta.url));

export interface Exchange {
  /** The name of the file without its ending. */
  readonly file: string;
  readonly name: string;
  readonly sections: ReadonlyArray<readonly [string, string]>;
}

/** The files in alphabetical order, and all exchanges in them. */
export function readExchanges(): { readonly files: readonly string[]; readonly exchanges: readonly Exchange[] } {
  const files = readdirSync(FOLDER).toSorted();
  return { files, exchanges: files.flatMap(exchangesIn) };
}

function exchangesIn(path: string): readonly Exchange[] {
  const samples = readFileSync(`${FOLDER}${path}`, 'utf8').split(/^=== /mu).slice(1);
  const file = path.replace('.txt', '');
  return samples.map((sample) => {
    const [name = '', ...rest] = sample.trimEnd().split(/\n--- /u);
    return { file, name: `${file}: ${name}`, sections: rest.map(sectionOf) };
  });
}

function sectionOf(text: string): readonly [string, string] {
  const end = text.indexOf('\n');
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
}

/** The texts of the sections with this name, in order. */
export function sections(exchange: Exchange, name: string): readonly string[] {
  return exchange.sections.filter(([each]) => each === name).map(([, text]) => text);
}

/** The result for the caller, as the file states it. */
export function outcomeOf(exchange: Exchange): Readonly<Record<string, unknown>> {
  return JSON.parse(sections(exchange, 'outcome').join('')) as Readonly<Record<string, unknown>>;
}
