import type { TypeNode } from '../../1-parse/syntax-nodes.ts';
import { MEDIA } from '../../../schema/type.ts';
import type { Rule } from '../check-context.ts';
import { type DefinitionScope, referencedNames, typesIn, typeSites } from '../scope.ts';

/** Return types contain no image, audio, pdf or video, because a model replies with text. */
export const mediaOutput: Rule = ({ scope, report }) => {
  // Skips types that an earlier function returns, so that each place is reported once.
  const seen = new Set<string>();
  for (const node of scope.functions.values()) {
    if (node.returns === undefined) continue;
    for (const type of newTypes(node.returns, scope, seen)) {
      const media = MEDIA.find((kind) => type.kind === 'name' && type.name === kind);
      if (media === undefined) continue;
      const related = type === node.returns ? [] : [{ span: node.returns.span, message: 'returned here' }];
      report('check/media-output', type.span, { name: node.name.text, media }, related);
    }
  }
};

/** Returns all types inside a type, and inside the classes and aliases that it reaches, except those in `seen`. */
function newTypes(root: TypeNode, scope: DefinitionScope, seen: Set<string>): readonly TypeNode[] {
  const found: TypeNode[] = [];
  const waiting: TypeNode[] = [root];
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    found.push(...typesIn(type));
    for (const name of referencedNames(type, true)) {
      if (seen.has(name)) continue;
      seen.add(name);
      const sites = [scope.aliases.get(name), scope.classes.get(name)].flatMap(typeSites);
      waiting.push(...sites.map((site) => site.type));
    }
  }
  return found;
}
