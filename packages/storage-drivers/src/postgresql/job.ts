import type { Result, Statement } from './postgresql-connection.ts'

/** A statement with its parameters. */
export interface Query {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** A statement that waits for a connection, or for its result. */
export interface Job {
  /** Returns the statement when a connection is free, so that it can include what has arrived by then. */
  readonly begin: () => Query
  readonly result: Promise<Result>
  readonly isSettled: boolean
  /** Ends the job; later calls have no effect. */
  settle(error: unknown, result?: Result): void
}

/** @param expire called after the time limit in milliseconds, unless the job has ended; it must end it */
export function createJob(begin: () => Query, timeLimit: number, expire: (job: Job) => void): Job {
  let resolve: (result: Result) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  let isSettled = false
  const result = new Promise<Result>((onResult, onError) => {
    resolve = onResult
    reject = onError
  })
  const job: Job = {
    begin,
    result,
    get isSettled() {
      return isSettled
    },
    settle(error, outcome) {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      if (outcome === undefined) reject(error)
      else resolve(outcome)
    },
  }
  const timer = setTimeout(() => expire(job), timeLimit)
  return job
}

/** Jobs that wait for a connection, first come, first served. Jobs that have ended leave it. */
export interface JobQueue {
  readonly size: number
  add(job: Job): void
  next(): Job | undefined
  /** Ends the first jobs, or all of them. */
  reject(error: unknown, count?: number): void
}

export function createJobQueue(): JobQueue {
  const jobs = new Set<Job>()

  function next(): Job | undefined {
    for (const job of jobs) {
      jobs.delete(job)
      if (!job.isSettled) return job
    }
    return undefined
  }

  return {
    get size() {
      return jobs.size
    },
    add(job) {
      jobs.add(job)
      const leave = (): void => void jobs.delete(job)
      job.result.then(leave, leave)
    },
    next,
    reject(error, count = jobs.size) {
      for (let left = count; left > 0; left -= 1) next()?.settle(error)
    },
  }
}
