import { createErrors, type Errors, isUnknown, keepsConnection, leadsElsewhere } from './errors.ts'
import { createJob, createJobQueue, type Job, type JobQueue, type Query } from './job.ts'
import { type Connection, connect, type Result } from './postgresql-connection.ts'
import type { PoolSettings } from './postgresql-options.ts'

/** Connections to one server, of which each performs one statement at a time. */
export interface Pool {
  readonly errors: Errors
  /**
   * Performs a statement on a free connection.
   *
   * @param begin returns the statement when a connection is free, so that it can include what has arrived by then
   * @param timeLimit milliseconds after which the operation rejects
   */
  run(begin: () => Query, timeLimit: number): Promise<Result>
  /** Closes all connections; the statements in progress are rejected. Later statements open new ones. */
  reset(): void
  /** Closes all connections, and rejects later statements. */
  close(): void
}

/** A connection of a pool. */
interface Member {
  readonly connection: Connection
  isLost: boolean
}

/** The open connections of a pool, free or not. */
interface Members {
  readonly size: number
  add(member: Member): void
  /** Returns a free one, which is then not free any more. The last one that became free is the least likely to be dead. */
  take(): Member | undefined
  free(member: Member): void
  drop(member: Member): void
  dropIdle(): void
  dropAll(): void
}

function createMembers(): Members {
  const all = new Set<Member>()
  const idle: Member[] = []

  function drop(member: Member): void {
    member.isLost = true
    all.delete(member)
    const index = idle.indexOf(member)
    if (index >= 0) idle.splice(index, 1)
    member.connection.destroy()
  }

  const dropEach = (members: readonly Member[]): void => {
    for (const member of members) drop(member)
  }

  return {
    get size() {
      return all.size
    },
    add: (member) => void all.add(member),
    take: () => idle.pop(),
    free: (member) => void idle.push(member),
    drop,
    dropIdle: () => dropEach([...idle]),
    dropAll: () => dropEach([...all]),
  }
}

/** Performs jobs on connections. @param serve called when a job may need a new connection */
function createDispatcher(members: Members, waiting: JobQueue, errors: Errors, serve: () => void) {
  /** The jobs in progress, with the number of results before. */
  const sent = new Map<Job, { readonly member: Member; readonly before: number }>()
  /** The number of results. */
  let results = 0

  function perform(job: Job, member: Member): void {
    const { statement, values } = job.begin()
    sent.set(job, { member, before: results })
    member.connection.send(statement, values, (error, result) => {
      sent.delete(job)
      if (result !== undefined || !isUnknown(error)) results += 1
      // A script that failed leaves its transaction open.
      if (result === undefined && (statement.name === '' || !keepsConnection(error))) members.drop(member)
      if (result === undefined && leadsElsewhere(error)) members.dropIdle()
      job.settle(error, result)
      release(member)
    })
  }

  /** Passes a connection to the next job. */
  function release(member: Member): void {
    const job = member.isLost ? undefined : waiting.next()
    if (job !== undefined) perform(job, member)
    else if (member.isLost) serve()
    else members.free(member)
  }

  /**
   * Closes the connection of a statement without a result, which may be blocked for long. If no other statement has a
   * result either, the server hangs or is gone, so the free connections are closed, too.
   */
  function expire(job: Job): void {
    const sentJob = sent.get(job)
    if (sentJob !== undefined) {
      members.drop(sentJob.member)
      if (results === sentJob.before) members.dropIdle()
    }
    job.settle(errors.timedOut())
  }

  return { perform, release, expire }
}

export function createPool(settings: PoolSettings, serverName: string): Pool {
  const errors = createErrors(serverName, settings.timeout)
  const members = createMembers()
  const waiting = createJobQueue()
  const { perform, release, expire } = createDispatcher(members, waiting, errors, serve)
  let connecting = 0
  let isClosed = false

  async function open(): Promise<void> {
    connecting += 1
    try {
      const connection = await connect(settings, () => members.drop(member))
      const member: Member = { connection, isLost: false }
      if (isClosed) connection.destroy()
      else {
        members.add(member)
        release(member)
      }
    } catch (error) {
      // Without any connection, none of the jobs has to wait for an attempt of its own to fail.
      waiting.reject(error, members.size === 0 ? waiting.size : 1)
    } finally {
      connecting -= 1
      serve()
    }
  }

  /** Opens as many connections as the waiting jobs can use. */
  function serve(): void {
    const wanted = Math.min(waiting.size, settings.maxConnections - members.size) - connecting
    for (let count = 0; count < wanted && !isClosed; count += 1) void open()
  }

  return {
    errors,
    async run(begin, timeLimit) {
      if (isClosed) throw errors.create('was disposed of')
      const job = createJob(begin, timeLimit, expire)
      const member = members.take()
      if (member === undefined) {
        waiting.add(job)
        serve()
      } else perform(job, member)
      try {
        return await job.result
      } catch (error) {
        throw errors.explain(error)
      }
    },
    reset: members.dropAll,
    close() {
      isClosed = true
      members.dropAll()
      waiting.reject(errors.create('was disposed of'))
    },
  }
}
