import type { Import, ImportGraph } from './import-graph.ts';
import type { Room } from './import-table.ts';

/** Imports that the table does not allow, each as `from -> to`. A file outside every room can import nothing. */
export function importsAgainstTable(graph: ImportGraph, table: readonly Room[]): readonly string[] {
  return graph.imports.filter((one) => !one.isPackage && !isAllowed(one, table)).map(arrow);
}

function isAllowed({ from, to }: Import, table: readonly Room[]): boolean {
  const room = roomOf(from, table);
  if (room === undefined) return false;
  // A nested room with its own row is another room, in both directions.
  if (roomOf(to, table) === room) return true;
  if (isPhaseList(room) && to.startsWith(`${room.path}/`)) return true;
  return room.mayImport.some((path) => isWithin(to, path));
}

/** The files directly in `src/compiler` call the phases below it. */
function isPhaseList(room: Room): boolean {
  return room.path === 'src/compiler';
}

function roomOf(file: string, table: readonly Room[]): Room | undefined {
  return table
    .filter((room) => isWithin(file, room.path))
    .toSorted((a, b) => b.path.length - a.path.length)
    .at(0);
}

function isWithin(file: string, path: string): boolean {
  return file === path || file.startsWith(`${path}/`);
}

/** Imports of npm packages by files outside the package's owner, and of packages without an owner. */
export function packagesOutsideOwner(graph: ImportGraph, owners: Readonly<Record<string, string>>): readonly string[] {
  return graph.imports
    .filter(({ from, to, isPackage }) => isPackage && !isWithin(from, owners[to] ?? 'no owner'))
    .map(arrow);
}

/** Cycles of imports, each once, as `a -> b -> a`. */
export function importCycles(graph: ImportGraph): readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, isPackage } of graph.imports) {
    if (!isPackage) targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file].join(' -> '));
    if (at >= 0 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of graph.files) visit(file, []);
  return cycles;
}

function arrow({ from, to }: Import): string {
  return `${from} -> ${to}`;
}
