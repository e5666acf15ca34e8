import { availableParallelism } from 'node:os'
import { formatInteger, median, percent } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { measureScale, type ScaleRound } from '../run/measure-scale.ts'
import { interpreter } from '../run/servers.ts'
import type { Workbench } from './workbench.ts'

const processCounts = [1, 2, 4] as const
const operations = ['client-credentials-opaque', 'introspection', 'refresh'] as const

/** The share of a core from which a process counts as busy all the time. */
const full = 0.95

/** The medians of all rounds. */
export type ScaleFigures = ScaleRound

/** Returns what keeps the servers from handling more requests. */
export function bottleneckOf(figures: ScaleFigures, cores: number): string {
  const { serverLoad, busiestServer, redisLoad, generatorLoad, otherLoad } = figures
  const parts = [
    { name: 'the server process', load: busiestServer },
    { name: 'Redis', load: redisLoad },
    { name: 'the generator', load: generatorLoad },
    { name: 'other programs', load: otherLoad },
  ]
  const busy = parts.filter(({ load }) => load >= full).map(({ name }) => name)
  if (serverLoad + redisLoad + generatorLoad + otherLoad >= cores * full) busy.push(`all ${cores} cores`)
  return busy.length === 0 ? 'nothing is busy all the time' : busy.join(', ')
}

const medians = (rounds: readonly ScaleRound[]): ScaleFigures => {
  const of = (figure: keyof ScaleRound): number => median(rounds.map((round) => round[figure]))
  return {
    requestsPerSecond: of('requestsPerSecond'),
    serverLoad: of('serverLoad'),
    busiestServer: of('busiestServer'),
    redisLoad: of('redisLoad'),
    generatorLoad: of('generatorLoad'),
    otherLoad: of('otherLoad'),
  }
}

/** Measures 1, 2 and 4 processes of the library on one Redis. */
export async function* scaleSection({ bundles, generator, plan, bench }: Workbench): AsyncGenerator<Section> {
  const command = [...interpreter('node', bench), await bundles.bundle('programs/grantry-redis-node.ts')]
  const cores = availableParallelism()
  const rows: (readonly string[])[] = []
  for (const operation of operations) {
    let alone = Number.NaN
    for (const processes of processCounts) {
      const figures = medians(await measureScale(operation, processes, command, generator, plan))
      if (processes === 1) alone = figures.requestsPerSecond
      rows.push([
        operation,
        String(processes),
        formatInteger(figures.requestsPerSecond),
        (figures.requestsPerSecond / alone).toFixed(2),
        formatInteger((figures.serverLoad * 1e6) / figures.requestsPerSecond),
        percent(figures.serverLoad),
        percent(figures.busiestServer),
        percent(figures.redisLoad),
        percent(figures.generatorLoad),
        percent(figures.otherLoad),
        bottleneckOf(figures, cores),
      ])
    }
  }
  const loads = ['servers', 'busiest', 'Redis', 'generator', 'others']
  const heads = ['operation', 'processes', 'req/s', 'of one', 'CPU us', ...loads, 'full']
  yield {
    leads: true,
    title: `Processes on one Redis, on ${cores} cores`,
    notes: [
      'CPU as a share of one core. The servers, Redis and the generator share the cores of this machine, so more processes help only while a core is idle. "others" are all other programs and the network in the kernel; repeat a run in which they use much more than with one process.',
      `"full" names what uses at least ${percent(full)} of a core, or all cores together: it limits the requests per second.`,
    ],
    rows: [heads, ...rows],
  }
}
