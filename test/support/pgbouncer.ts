import { spawn, spawnSync } from 'node:child_process'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { eventually } from './eventually.ts'
import { postgresqlMissing, superuser } from './postgresql-process.ts'
import type { PostgresqlServer } from './postgresql-server.ts'
import { reservedPort } from './reserved-port.ts'

/** One sentence when PgBouncer cannot be run here: what is missing and how to get it. */
export const pgbouncerMissing: string | undefined =
  postgresqlMissing ??
  (spawnSync('pgbouncer', ['--version']).status === 0
    ? undefined
    : 'pgbouncer is not installed, but the tests of the PostgreSQL driver need it: apt-get install pgbouncer')

export interface PgBouncer {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a PgBouncer in transaction mode with few connections to the server, in whose directory its files are.
 *
 * @param more further settings
 */
export async function startPgBouncer(
  server: PostgresqlServer,
  poolSize: number,
  more: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const port = await reservedPort()
  const [configuration, users] = ['pgbouncer.ini', 'users.txt'].map((name) => join(server.directory, name)) as [
    string,
    string,
  ]
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    pool_mode: 'transaction',
    default_pool_size: poolSize,
    max_client_conn: 200,
    auth_type: 'trust',
    auth_file: users,
    ...more,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(users, `"${superuser.user}" "${superuser.password}"\n`)
  writeFileSync(
    configuration,
    `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  const { uid, gid } = statSync(server.directory)
  for (const path of [configuration, users]) chownSync(path, uid, gid)
  // It refuses to run as root, as PostgreSQL does.
  const account = process.getuid?.() === 0 ? { uid, gid } : {}
  const child = spawn('pgbouncer', [configuration], { ...account, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = server.url.replace(`:${server.port}/`, `:${port}/`)
  await eventually(async () => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    await client.end()
  })
  return {
    url,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
