import type { OperationName } from '../operations.ts'
import { failuresOf, formatInteger, medianOf, serverRows } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { type Reached, reachedRatios, reachedServe, redisTargets, targetSection } from '../report/targets.ts'
import { startBenchRedis } from '../run/bench-redis.ts'
import { measureOperation, type ServerFigures } from '../run/measure-operation.ts'
import { measureTrips, type Trips } from '../run/measure-trips.ts'
import { launchesOf, type Server } from '../run/servers.ts'
import { peers } from './operation-sections.ts'
import type { Workbench } from './workbench.ts'

type TripsOf = ReadonlyMap<OperationName, ReadonlyMap<string, Trips>>

/** Commands and trips that a refresh may need at most. */
const refreshLimits = { commands: 6, trips: 2 } as const

function summary(
  all: readonly ServerFigures[],
  trips: TripsOf,
  operations: readonly OperationName[],
  servers: readonly Server[],
): Section {
  const cell = (operation: OperationName, server: string): string => {
    const figures = all.find((each) => each.operation === operation && each.server === server)
    if (figures === undefined) return ''
    const { sent = '', trips: inSequence = '' } = trips.get(operation)?.get(server) ?? {}
    const [speed, cpu] = [medianOf(figures, 'requestsPerSecond'), medianOf(figures, 'cpu')]
    return [formatInteger(speed), formatInteger(cpu), sent, inSequence].join(' · ')
  }
  return {
    leads: true,
    title: 'Redis',
    notes: [
      'Requests per second · CPU microseconds of the server per request · Redis commands per request · trips to Redis in sequence per request.',
      'The server runs on one core; the generator and redis-server share the other. Requests per second and CPU are medians under 32 connections. Commands and trips are those of a request without others that could share them; a script counts as one command.',
      'grantry-node rotates refresh tokens with a retry window of 10 seconds; grantry-without-retry-node has none, as all other servers.',
      'limit-node uses the fewest commands with which a refresh token or code works once. The next table shows for which servers it does.',
      'grantry-serve-node is `grantry serve` with a JSON configuration. Its password rows have a module configuration, because a JSON configuration hashes passwords and no other server does here.',
      'oidc-provider-node has the commands of the Redis adapter in its documentation. jmondi-node stores JSON with an expiry and reads each record with one GET. All servers use ioredis.',
    ],
    rows: [
      ['operation', ...servers.map(({ name }) => name)],
      ...operations.map((operation) => [operation, ...servers.map(({ name }) => cell(operation, name))]),
    ],
  }
}

function reachedRefresh(trips: TripsOf): readonly Reached[] {
  const own = trips.get('refresh')?.get('grantry-node')
  if (own === undefined) return []
  return [
    { what: 'refresh: Redis commands sent', target: refreshLimits.commands, reached: own.sent, isMaximum: true },
    {
      what: 'refresh: Redis commands executed, with those in scripts',
      target: refreshLimits.commands,
      reached: own.executed,
      isMaximum: true,
    },
    { what: 'refresh: trips to Redis', target: refreshLimits.trips, reached: own.trips, isMaximum: true },
  ]
}

/** Yields a table per operation, a summary with commands and trips, and the targets. */
export async function* redisOperationSections(
  { bundles, generator, plan, bench }: Workbench,
  operations: readonly OperationName[],
  servers: readonly Server[],
): AsyncGenerator<Section> {
  const all: ServerFigures[] = []
  const trips = new Map<OperationName, ReadonlyMap<string, Trips>>()
  for (const operation of operations) {
    const launches = await launchesOf(servers, operation, bundles, bench)
    const redis = await startBenchRedis(1)
    try {
      const figures = await measureOperation(operation, launches, generator, plan, redis)
      all.push(...figures)
      yield {
        title: `${operation} on Redis`,
        notes: [],
        rows: serverRows(figures, peers),
        failures: failuresOf(figures),
      }
    } finally {
      await redis.stop()
    }
    trips.set(operation, await measureTrips(operation, launches, generator))
  }
  yield summary(all, trips, operations, servers)
  yield targetSection('Targets on Redis', [
    ...reachedRatios(all, redisTargets),
    ...reachedRefresh(trips),
    ...reachedServe(all, operations),
  ])
}
