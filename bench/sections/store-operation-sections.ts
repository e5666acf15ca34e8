import type { OperationName } from '../operations.ts'
import { failuresOf, formatInteger, medianOf, serverRows } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { type Reached, reachedRatios, reachedServe, targetSection } from '../report/targets.ts'
import { measureOperation, type ServerFigures } from '../run/measure-operation.ts'
import { measureTrips, type Trips } from '../run/measure-trips.ts'
import { launchesOf, type Server } from '../run/servers.ts'
import { peers } from './operation-sections.ts'
import type { StoreBench } from './store-bench.ts'
import type { Workbench } from './workbench.ts'

type TripsOf = ReadonlyMap<OperationName, ReadonlyMap<string, Trips>>

function summary(
  { title, notes }: StoreBench,
  all: readonly ServerFigures[],
  trips: TripsOf,
  operations: readonly OperationName[],
  servers: readonly Server[],
): Section {
  const cell = (operation: OperationName, server: string): string => {
    const figures = all.find((each) => each.operation === operation && each.server === server)
    if (figures === undefined) return ''
    const { sent = '', trips: inSequence = '' } = trips.get(operation)?.get(server) ?? {}
    const [speed, ...costs] = (['requestsPerSecond', 'cpu', 'storeCpu'] as const).map((figure) =>
      formatInteger(medianOf(figures, figure)),
    )
    return [speed, ...costs, sent, inSequence].join(' · ')
  }
  return {
    leads: true,
    title,
    notes: [
      `Requests per second · CPU microseconds of the server per request · CPU microseconds of ${title} per request · calls to it per request · trips to it in sequence per request.`,
      `The server runs on one core; the generator and ${title} share the other. Requests per second and CPU are medians under 32 connections. Calls and trips are those of a request without others that could share them.`,
      'grantry-node rotates refresh tokens with a retry window of 10 seconds; grantry-without-retry-node has none, as all other servers.',
      ...notes,
    ],
    rows: [
      ['operation', ...servers.map(({ name }) => name)],
      ...operations.map((operation) => [operation, ...servers.map(({ name }) => cell(operation, name))]),
    ],
  }
}

const tripTexts: Readonly<Record<keyof Trips, (title: string) => string>> = {
  sent: (title) => `calls sent to ${title}`,
  executed: (title) => `calls executed by ${title}, with those in scripts`,
  trips: (title) => `trips to ${title}`,
}

/** Returns the calls and trips of Grantry that have a limit. */
function reachedTrips({ tripLimits, title }: StoreBench, trips: TripsOf): readonly Reached[] {
  return Object.entries(tripLimits).flatMap(([operation, limits]) => {
    const ours = trips.get(operation as OperationName)?.get('grantry-node')
    if (ours === undefined) return []
    return Object.entries(limits).map(([name, target]) => {
      const figure = name as keyof Trips
      return { what: `${operation}: ${tripTexts[figure](title)}`, target, reached: ours[figure], isMaximum: true }
    })
  })
}

/** Yields a table per operation, a summary with calls and trips, and the targets. */
export async function* storeOperationSections(
  storeBench: StoreBench,
  { bundles, generator, plan, bench }: Workbench,
  operations: readonly OperationName[],
  servers: readonly Server[],
): AsyncGenerator<Section> {
  const { title, start, targets } = storeBench
  const all: ServerFigures[] = []
  const trips = new Map<OperationName, ReadonlyMap<string, Trips>>()
  for (const operation of operations) {
    const launches = await launchesOf(servers, operation, bundles, bench)
    const store = await start(1)
    try {
      const figures = await measureOperation(operation, launches, generator, plan, store)
      all.push(...figures)
      yield {
        title: `${operation} on ${title}`,
        notes: [],
        rows: serverRows(figures, peers),
        failures: failuresOf(figures),
      }
    } finally {
      await store.stop()
    }
    trips.set(operation, await measureTrips(operation, launches, generator, start))
  }
  yield summary(storeBench, all, trips, operations, servers)
  yield targetSection(`Targets on ${title}`, [
    ...reachedRatios(all, targets),
    ...reachedTrips(storeBench, trips),
    ...reachedServe(all, operations),
  ])
}
