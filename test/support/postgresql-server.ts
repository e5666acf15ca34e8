import { join } from 'node:path'
import pg from 'pg'
import { pause } from './pause.ts'
import {
  copyCluster,
  createCluster,
  type PostgresqlProcess,
  postgresqlMissing,
  removeCluster,
  startProcess,
  superuser,
} from './postgresql-process.ts'
import { reservedPort } from './reserved-port.ts'

/** Seconds for a new server to respond; on a machine with one busy core it is slow, not broken. */
const timeLimit = 60

export interface PostgresqlServerOptions {
  /** As in postgresql.conf: `fsync=off`. */
  readonly settings?: readonly string[]
  readonly encoding?: string
  /** A server that this one streams from. It begins with all of its data. */
  readonly replicaOf?: PostgresqlServer
}

/** A separate PostgreSQL for this test, on loopback. It ends with the process of the test at the latest. */
export interface PostgresqlServer {
  readonly port: number
  /** Also the directory of its Unix socket. */
  readonly directory: string
  /** The URL of the database `postgres`, or of another one, for the superuser or another user. */
  readonly url: string
  urlOf(database: string, user?: string, password?: string): string
  /** Stops all of its processes: connections stay open without a reply. */
  pause(): void
  resume(): void
  /** SIGKILL for all of its processes; resolves when the server is gone. */
  kill(): Promise<void>
  /** After `kill()`: recovers on the same port. */
  restart(settings?: readonly string[]): Promise<void>
  /** Performs a statement on a new connection, as the superuser. */
  query(sql: string, values?: readonly unknown[], database?: string): Promise<Record<string, unknown>[]>
  log(): string
  /** Ends it and removes its directory. */
  stop(): Promise<void>
}

async function perform(url: string, sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(sql, values === undefined ? undefined : [...values])
    return rows
  } finally {
    await client.end()
  }
}

async function startAndWait(port: number, directory: string, settings: readonly string[], url: string) {
  const started = startProcess(port, directory, settings)
  let gone = false
  void started.ended.then(() => {
    gone = true
  })
  for (const end = Date.now() + timeLimit * 1000; ; await pause(20)) {
    const problem = await perform(url, 'SELECT 1').then(
      () => undefined,
      ({ message }) => message,
    )
    if (problem === undefined) return started
    if (gone) throw new Error(`PostgreSQL on port ${port} ended during its start:\n${started.log()}`)
    if (Date.now() < end) continue
    await started.quit()
    throw new Error(`PostgreSQL on port ${port} is not ready within ${timeLimit} s: ${problem}\n${started.log()}`)
  }
}

/** Rejects with the end of its log when it does not start. */
export async function startPostgresql(options: PostgresqlServerOptions = {}): Promise<PostgresqlServer> {
  if (postgresqlMissing !== undefined) throw new Error(postgresqlMissing)
  const port = await reservedPort()
  const { replicaOf, encoding = 'UTF8' } = options
  const directory = replicaOf === undefined ? await createCluster(encoding) : await copyCluster(replicaOf.url)
  const settings = ['listen_addresses=127.0.0.1', 'shared_buffers=32MB', ...(options.settings ?? [])]
  const urlOf = (database: string, user = superuser.user, password = superuser.password): string =>
    `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`
  const url = urlOf('postgres')
  let current: PostgresqlProcess
  try {
    current = await startAndWait(port, directory, settings, url)
  } catch (error) {
    await removeCluster(directory)
    throw error
  }
  return {
    port,
    directory,
    url,
    urlOf,
    pause: () => current.signalAll('SIGSTOP'),
    resume: () => current.signalAll('SIGCONT'),
    async kill() {
      current.signalAll('SIGKILL')
      await current.ended
    },
    async restart(more = []) {
      current = await startAndWait(port, directory, [...settings, ...more], url)
    },
    query: (sql, values, database) => perform(database === undefined ? url : urlOf(database), sql, values),
    log: () => current.log(),
    async stop() {
      await current.quit()
      await removeCluster(directory)
    },
  }
}

/** Path of a file in the data directory of a server. */
export const dataFile = ({ directory }: PostgresqlServer, name: string): string => join(directory, 'data', name)
