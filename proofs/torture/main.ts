// `npm run prove:torture -- [--store redis] [--seconds 180]`: kills servers under load while clients check every
// response. See ledger.ts for what must hold.
import { parseArgs } from 'node:util'
import { startPostgresql } from '../../test/support/postgresql-server.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import { failOver, killServers, takeStoreAway } from './chaos.ts'
import { postgresqlStore } from './postgresql-store.ts'
import { redisStore } from './redis-store.ts'
import { startSentinelGroup } from './sentinel-group.ts'
import { filesystemStore, sqliteStore } from './stores.ts'
import { isViolated, table } from './table.ts'
import { type TortureOptions, type TortureReport, torture } from './torture.ts'

const usage = `usage: npm run prove:torture -- [--store filesystem|sqlite|redis|outage|failover|postgresql|postgresql-outage] [--seconds 180] [--seed 1] [--clients 24] [--wait-replicas 1]

filesystem, sqlite, redis
                    3 servers, a random one is killed every 150 to 800 ms
outage              2 servers; their Redis is paused, or killed and started again, again and again
postgresql          3 servers, a random one is killed every 150 to 800 ms
postgresql-outage   2 servers; their PostgreSQL is paused, or killed and started again, again and again
failover            2 servers that find Redis by a Sentinel; its primary is killed again and again
`

type Common = Pick<TortureOptions, 'seconds' | 'seed' | 'clients' | 'keep'>

async function onRedis(common: Common): Promise<TortureReport> {
  const redis = await startRedis()
  const store = redisStore({ url: redis.url }, async () => redis.port)
  return torture({ ...common, store: () => store, chaos: killServers, servers: 3 }).finally(redis.stop)
}

async function onFickleRedis(common: Common): Promise<TortureReport> {
  // It still has every acknowledged write when it comes back.
  const redis = await startRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const store = redisStore({ url: redis.url }, async () => redis.port)
  return torture({ ...common, store: () => store, chaos: takeStoreAway(redis), servers: 2 }).finally(redis.stop)
}

async function onSentinel(common: Common, waitReplicas: number): Promise<TortureReport> {
  const group = await startSentinelGroup()
  const store = redisStore({ ...group.found, waitReplicas }, async () => (await group.primary()).port)
  return torture({ ...common, store: () => store, chaos: failOver(group), servers: 2 }).finally(group.stop)
}

async function onPostgresql(common: Common, isFickle: boolean): Promise<TortureReport> {
  const server = await startPostgresql()
  const store = postgresqlStore(server)
  const chaos = isFickle ? takeStoreAway(server) : killServers
  return torture({ ...common, store: () => store, chaos, servers: isFickle ? 2 : 3 }).finally(server.stop)
}

/** @returns the exit code: 0 no violation, 1 a violation, 2 wrong usage */
async function prove(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string', default: 'filesystem' },
      seconds: { type: 'string', default: '180' },
      seed: { type: 'string', default: '1' },
      clients: { type: 'string', default: '24' },
      'wait-replicas': { type: 'string', default: '1' },
    },
  })
  const numbers = { seconds: Number(values.seconds), seed: Number(values.seed), clients: Number(values.clients) }
  const waitReplicas = Number(values['wait-replicas'])
  const common: Common = { ...numbers, keep: true }
  const runs: Readonly<Record<string, () => Promise<TortureReport>>> = {
    filesystem: () => torture({ ...common, store: filesystemStore, chaos: killServers, servers: 3 }),
    sqlite: () => torture({ ...common, store: sqliteStore, chaos: killServers, servers: 3 }),
    redis: () => onRedis(common),
    outage: () => onFickleRedis(common),
    failover: () => onSentinel(common, waitReplicas),
    postgresql: () => onPostgresql(common, false),
    'postgresql-outage': () => onPostgresql(common, true),
  }
  const run = runs[values.store]
  if (run === undefined || ![...Object.values(numbers), waitReplicas].every((number) => number >= 0)) {
    process.stderr.write(usage)
    return 2
  }
  const report = await run()
  process.stdout.write(table(report))
  if (isViolated(report)) process.stdout.write(`The logs are in ${report.directory}\n`)
  return isViolated(report) ? 1 : 0
}

process.exitCode = await prove(process.argv.slice(2))
