/** The tag of the endpoints that belong to no function; no function can have this name. */
const SERVER_TAG = 'server endpoints';

/**
 * The document with one tag for each function, so that the page shows the endpoints of a function together. The document
 * that the server publishes has one tag for all functions: generators make a class for each tag.
 */
export function groupByFunction(definition) {
  const tags = new Map();
  const paths = {};
  for (const [path, item] of Object.entries(definition.paths)) {
    paths[path] = Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [method, grouped(path, operation, tags)]),
    );
  }
  const server = { name: SERVER_TAG, description: 'Probes, metrics and status.' };
  return { ...definition, paths, tags: [...tags.values(), server] };
}

function grouped(path, operation, tags) {
  if (!operation.tags?.includes('functions')) return { ...operation, tags: [SERVER_TAG] };
  const name = path.slice(path.lastIndexOf('/') + 1);
  const { summary, ...rest } = operation;
  if (!tags.has(name)) tags.set(name, { name, ...(summary === undefined ? {} : { description: summary }) });
  return { ...rest, tags: [name] };
}

/** Filters the functions by a part of their names, in any case. */
export const nameFilterPlugin = {
  fn: {
    opsFilter: (groups, text) => groups.filter((_group, name) => name.toLowerCase().includes(text.toLowerCase())),
  },
};
