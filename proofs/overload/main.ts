// `npm run prove:overload -- [--seconds 60] [--kinds memory,slow-store,password]`: puts twice its capacity on a server and
// prints the results.
import { parseArgs } from 'node:util'
import { isOverloadKind, overloadKinds } from './kinds.ts'
import { type OverloadReport, overload } from './overload.ts'
import { prepareProcesses } from './processes.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    kinds: { type: 'string', default: overloadKinds.join(',') },
  },
})
const seconds = Number(values.seconds)
const kinds = values.kinds.split(',').filter(isOverloadKind)
if (!(seconds >= 1) || kinds.length === 0)
  throw new TypeError('usage: npm run prove:overload -- [--seconds 60] [--kinds memory,slow-store,password]')

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MB`
const perSecond = (count: number, took: number): string => `${(count / took).toFixed(0)}/s`

function rows({ kind, capacity, load, start, middle, late, end, peak }: OverloadReport): readonly string[] {
  const statuses = Object.entries(load.statuses).map(([status, count]) => `${status}: ${count}`)
  return [
    `${kind}`,
    `  capacity ${capacity.toFixed(0)}/s; offered ${perSecond(load.offered, seconds)} for ${seconds} s, completed ${perSecond(load.answered, load.seconds)} in ${load.seconds.toFixed(1)} s`,
    `  ${statuses.join(', ')}; never sent: ${load.heldBack}; without a response: ${load.hung}; 503 without Retry-After: ${load.withoutRetryAfter}`,
    `  p50 ${load.p50.toFixed(0)} ms, p99 ${load.p99.toFixed(0)} ms; next request after the load ${load.recovery.toFixed(0)} ms`,
    `  RSS at start ${megabytes(start.rss)}, peak ${megabytes(peak)}, end ${megabytes(end.rss)}; heap at start ${megabytes(start.heap)}, middle ${megabytes(middle.heap)}, late ${megabytes(late.heap)}, end ${megabytes(end.heap)}`,
  ]
}

const processes = await prepareProcesses()
for (const kind of kinds) process.stdout.write(`${rows(await overload(processes, kind, seconds)).join('\n')}\n`)
