// Entry file: the CPU time per request of this build beside builds in other folders, on each version of Node and each transport that
// the options name. All servers run at once and are loaded in short turns, so that the changing speed of a machine hits each of them
// alike: two runs of one build differ by about 1 %.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { addressOf, CASES } from './cases.ts';
import { cpuMicrosOfLoad, median } from './load.ts';
import { number, table } from './report.ts';
import { ROOT, setStage, SETTLE_MS } from './sides.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    case: { type: 'string', default: 'call-small' },
    rounds: { type: 'string', default: '60' },
    node: { type: 'string', multiple: true, default: [process.execPath] },
    transport: { type: 'string', multiple: true, default: ['auto'] },
  },
});
const subject = CASES.find(({ name }) => name === values.case);
const rounds = Number(values.rounds);
const servers = [ROOT, ...positionals].flatMap((root) =>
  values.node.flatMap((node) => values.transport.map((transport) => ({ root, node, transport }))),
);
if (subject === undefined || servers.length === 1 || !(rounds > 0)) {
  const options = '[--case call-small] [--rounds 60] [--node <binary>]... [--transport auto|uws|node]...';
  console.error(`in-turn.js ${options} [folder with another build of svc]...`);
  process.exit(2);
}

const TURNS_OF_WARM_UP = 25;
/** A turn lasts 0.1 to 0.5 s. */
const requests = Math.ceil((subject.warmUp.svc ?? 0) / TURNS_OF_WARM_UP) || 1;

const stages = [await setStage({ sides: subject.requests.floor === undefined ? [] : ['floor'] })];
try {
  for (const { transport, ...place } of servers)
    stages.push(await setStage({ sides: ['svc'], ...place, env: { SVC_TRANSPORT: transport } }));
  await sleep(SETTLE_MS);
  const sides = stages.flatMap((stage) => stage.sides);
  const micros = sides.map((): number[] => []);
  const run = (side: (typeof sides)[number]): Promise<number> =>
    cpuMicrosOfLoad(side.pid, { url: addressOf(subject, side), connections: subject.connections, requests });
  for (let turn = 0; turn < TURNS_OF_WARM_UP; turn += 1) for (const side of sides) await run(side);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...sides.entries()];
    for (const [index, side] of round % 2 === 0 ? order : order.toReversed()) micros[index]?.push(await run(side));
  }
  const base = micros.at(-servers.length) ?? [];
  const rows = micros.map((own, index) => {
    const server = servers[index - micros.length + servers.length];
    const name = server === undefined ? 'floor' : `${server.root} ${versionOf(server.node)} ${server.transport}`;
    const ratios = own.map((value, round) => value / (base[round] ?? Number.NaN));
    return [name, number(median(own)), number(median(ratios))];
  });
  console.log(table([[`${subject.name}, ${rounds} rounds`, 'CPU µs per request', 'beside the first'], ...rows]));
} finally {
  for (const stage of stages) await stage.end();
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
}
