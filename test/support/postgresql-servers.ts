import { afterAll } from 'vitest'
import { type PostgresqlServer, type PostgresqlServerOptions, startPostgresql } from './postgresql-server.ts'

/** Starts servers that end after the last test of the file. */
export function postgresqlServers(): (options?: PostgresqlServerOptions) => Promise<PostgresqlServer> {
  const started: PostgresqlServer[] = []
  afterAll(() => Promise.all(started.splice(0).map((server) => server.stop())))
  return async (options) => {
    const server = await startPostgresql(options)
    started.push(server)
    return server
  }
}
