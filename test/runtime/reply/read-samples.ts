import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Each file contains samples: `=== name`, then sections that begin with `--- section`. A reply is followed by its value or
 * the reason of its refusal, and by the flags with their paths; in `streams/`, by every partial as well. The values and
 * partials of `rules-*` and `streams/rules` were written from the rules before the parser had read them.
 */
const FOLDER = fileURLToPath(new URL('samples/', import.meta.url));

export const SAMPLE_DEFINITIONS = readFileSync(`${FOLDER}definitions.svc`, 'utf8');

export interface Sample {
  readonly name: string;
  /** The name of its file. */
  readonly topic: string;
  readonly sections: ReadonlyMap<string, string>;
}

/** Returns the samples of whole replies. */
export function valueSamples(): readonly Sample[] {
  return samplesIn(FOLDER);
}

/** Returns the samples of replies in deltas. */
export function streamSamples(): readonly Sample[] {
  return samplesIn(`${FOLDER}streams/`);
}

/** Returns a section of a sample. Throws if the sample has no such section. */
export function section(sample: Sample, name: string): string {
  const text = sample.sections.get(name);
  if (text === undefined) throw new Error(`${sample.name} has no section ${name}`);
  return text;
}

function samplesIn(folder: string): Sample[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));
  return files
    .toSorted()
    .flatMap((file) => samplesOf(file.replace('.txt', ''), readFileSync(`${folder}${file}`, 'utf8')));
}

function samplesOf(topic: string, text: string): Sample[] {
  return text
    .split(/^=== /mu)
    .slice(1)
    .map((sample) => {
      const [name = '', ...sections] = sample.split(/\n--- /u);
      return { name: `${topic}: ${name}`, topic, sections: new Map(sections.map(sectionOf)) };
    });
}

function sectionOf(text: string): [string, string] {
  const end = text.indexOf('\n');
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)];
}
