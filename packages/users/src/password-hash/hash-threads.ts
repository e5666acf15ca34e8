import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { threadProgram } from './hash-functions.ts'

/** A call of a function of hash-wasm. */
interface Job {
  readonly name: 'argon2id' | 'argon2i' | 'bcrypt'
  readonly options: Readonly<Record<string, unknown>>
  readonly resolve: (key: Uint8Array) => void
  readonly reject: (error: Error) => void
}

type Result = { readonly key: Uint8Array } | { readonly error: string }

interface Thread {
  readonly worker: Worker
  job: Job | undefined
  /** Ends the thread when it has had nothing to do, which frees its memory. */
  end: NodeJS.Timeout | undefined
}

const maxThreads = Math.min(4, availableParallelism())

/** Milliseconds. */
const idleTime = 10_000

const threads = new Set<Thread>()
const waiting: Job[] = []
let program: string | undefined

function endJob(thread: Thread, result: Result): void {
  const { job } = thread
  thread.job = undefined
  if (job === undefined) return
  if ('key' in result) job.resolve(result.key)
  else job.reject(new Error(`${job.name} failed: ${result.error}`))
}

function start(): Thread {
  program ??= threadProgram()
  const thread: Thread = { worker: new Worker(program, { eval: true }), job: undefined, end: undefined }
  const lost = (why: string): void => {
    threads.delete(thread)
    endJob(thread, { error: why })
    assign()
  }
  thread.worker.on('message', (result: Result) => {
    endJob(thread, result)
    assign()
  })
  thread.worker.on('error', ({ message }) => lost(message))
  thread.worker.on('exit', () => lost('the thread ended'))
  threads.add(thread)
  return thread
}

function rest(thread: Thread): void {
  // A process can exit while a thread has nothing to do.
  thread.worker.unref()
  thread.end = setTimeout(() => {
    threads.delete(thread)
    void thread.worker.terminate()
  }, idleTime)
  thread.end.unref()
}

/** Gives waiting jobs to free threads. */
function assign(): void {
  for (;;) {
    const free = [...threads].find(({ job }) => job === undefined)
    const job = free !== undefined || threads.size < maxThreads ? waiting.shift() : undefined
    if (job === undefined) break
    const thread = free ?? start()
    clearTimeout(thread.end)
    thread.end = undefined
    thread.job = job
    thread.worker.ref()
    thread.worker.postMessage({ name: job.name, options: job.options })
  }
  for (const thread of threads) if (thread.job === undefined && thread.end === undefined) rest(thread)
}

/** Runs a function of hash-wasm in a thread, because each call takes up to seconds. */
export const callInThread = (name: Job['name'], options: Job['options']): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    waiting.push({ name, options, resolve, reject })
    assign()
  })
