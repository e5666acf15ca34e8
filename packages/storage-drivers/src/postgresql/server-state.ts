import type { Statement } from './connection.ts'
import type { Executor } from './executor.ts'

/** What an operator wants to know about the server. */
export interface ServerState {
  /** Its clock, in milliseconds since the epoch. */
  readonly time: number
  /** Whether it has replicas and waits for none of them, so that a failover can lose confirmed writes. */
  readonly hasAsynchronousReplicas: boolean
}

const statement: Statement = {
  name: 'grantry_server_state',
  text: `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::text,
    EXISTS (SELECT FROM pg_stat_replication) AND
      (current_setting('synchronous_standby_names') = '' OR current_setting('synchronous_commit') IN ('off', 'local'))`,
}

export const readServerState = (executor: Executor) => async (): Promise<ServerState> => {
  const { rows } = await executor.read(() => ({ statement, values: [] }))
  const [time, hasAsynchronousReplicas] = rows[0] ?? []
  return { time: Number(time), hasAsynchronousReplicas: hasAsynchronousReplicas === 't' }
}
