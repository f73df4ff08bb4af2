// Entry file: the CPU time per request of this build beside builds in other folders. All servers run at once and are loaded in
// short turns, so that the changing speed of a machine hits each of them alike: two runs of one build differ by about 1 %.
import { parseArgs } from 'node:util';
import { CASES } from './cases.ts';
import { median, streamLoad } from './load.ts';
import { fineCpuMicrosOf, processTree } from './process-usage.ts';
import { number, table } from './report.ts';
import { ROOT, setStage } from './sides.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { case: { type: 'string', default: 'call-small' }, rounds: { type: 'string', default: '60' } },
});
const subject = CASES.find(({ name }) => name === values.case);
const rounds = Number(values.rounds);
if (subject === undefined || positionals.length === 0 || !(rounds > 0)) {
  console.error('in-turn.js [--case call-small] [--rounds 60] <folder with another build of svc> ...');
  process.exit(2);
}

const TURNS_OF_WARM_UP = 25;
/** A turn lasts 0.1 to 0.5 s. */
const requests = Math.ceil((subject.warmUp.svc ?? 0) / TURNS_OF_WARM_UP) || 1;

const roots = [ROOT, ...positionals];
const stages = [await setStage({ sides: subject.requests.floor === undefined ? [] : ['floor'] })];
try {
  for (const root of roots) stages.push(await setStage({ sides: ['svc'], root }));
  const sides = stages.flatMap((stage) => stage.sides);
  const micros = sides.map((): number[] => []);
  const run = async (side: (typeof sides)[number]): Promise<number> => {
    const pids = processTree(side.pid);
    const before = fineCpuMicrosOf(pids);
    const url = `${side.url}/${subject.endpoint}/${subject.function}`;
    await streamLoad({ url, connections: subject.connections, requests });
    return (fineCpuMicrosOf(pids) - before) / requests;
  };
  for (let turn = 0; turn < TURNS_OF_WARM_UP; turn += 1) for (const side of sides) await run(side);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...sides.entries()];
    for (const [index, side] of round % 2 === 0 ? order : order.toReversed()) micros[index]?.push(await run(side));
  }
  const base = micros.at(-roots.length) ?? [];
  const rows = micros.map((own, index) => {
    const name = roots[index - micros.length + roots.length] ?? 'floor';
    const ratios = own.map((value, round) => value / (base[round] ?? Number.NaN));
    return [name, number(median(own)), number(median(ratios))];
  });
  console.log(table([[`${subject.name}, ${rounds} rounds`, 'CPU µs per request', 'beside this build'], ...rows]));
} finally {
  for (const stage of stages) await stage.end();
}
