import type { Executor } from './executor.ts'
import { statementOf } from './postgresql-statements.ts'

/** The clock and the replication of the server, for the operator. */
export interface ServerState {
  /** Its clock, in milliseconds since the epoch. */
  readonly time: number
  /** Whether it has replicas and waits for none of them, so that a failover can lose confirmed writes. */
  readonly hasAsynchronousReplicas: boolean
}

const statement = statementOf(
  'server_state',
  `SELECT (extract(epoch FROM pg_catalog.clock_timestamp())::float8 * 1000::float8)::text,
    EXISTS (SELECT FROM pg_catalog.pg_stat_replication) AND
      (pg_catalog.current_setting('synchronous_standby_names') = '' OR
        pg_catalog.current_setting('synchronous_commit') IN ('off', 'local'))`,
)

export const readServerState = (executor: Executor) => async (): Promise<ServerState> => {
  const { rows } = await executor.read(() => ({ statement, values: [] }))
  const [time, hasAsynchronousReplicas] = rows[0] ?? []
  return { time: Number(time), hasAsynchronousReplicas: hasAsynchronousReplicas === 't' }
}
