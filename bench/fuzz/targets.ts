import type { Target } from './target.ts';

export const TARGETS = ['framing', 'body', 'options', 'definition', 'template', 'reply'] as const;

export type TargetName = (typeof TARGETS)[number];

/** Loads a target with its part of svc, and starts the servers that it needs. */
export async function targetNamed(name: TargetName): Promise<Target> {
  switch (name) {
    case 'framing':
      return (await import('./targets/framing.ts')).startFramingTarget();
    case 'body':
      return (await import('./targets/bodies.ts')).startBodyTarget();
    case 'options':
      return (await import('./targets/options.ts')).optionsTarget();
    case 'definition':
      return (await import('./targets/definitions.ts')).definitionTarget();
    case 'template':
      return (await import('./targets/templates.ts')).templateTarget();
    case 'reply':
      return (await import('./targets/replies.ts')).replyTarget();
  }
}
