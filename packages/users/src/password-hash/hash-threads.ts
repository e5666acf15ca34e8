import process from 'node:process'
import type { Worker } from 'node:worker_threads'
import { threadProgram } from './hash-functions.ts'

interface Common {
  readonly password: Uint8Array
  readonly salt: Uint8Array
  readonly outputType: 'binary'
}

/** A call of a function of hash-wasm. */
export type HashCall =
  | { readonly name: 'bcrypt'; readonly options: Common & { readonly costFactor: number } }
  | {
      readonly name: 'argon2id' | 'argon2i'
      readonly options: Common & {
        /** KiB. */
        readonly memorySize: number
        readonly iterations: number
        readonly parallelism: number
        readonly hashLength: number
      }
    }

interface Job {
  readonly call: HashCall
  readonly resolve: (key: Uint8Array) => void
  readonly reject: (error: Error) => void
}

type Result = { readonly key: Uint8Array } | { readonly error: string }

interface Thread {
  readonly worker: Worker
  job: Job | undefined
  /** Ends an idle thread, which frees its memory. */
  end: NodeJS.Timeout | undefined
}

/** Read on demand, and not imported: bundles for runtimes without threads contain this file. */
const modules = () => ({
  os: process.getBuiltinModule('node:os'),
  threads: process.getBuiltinModule('node:worker_threads'),
})

const most = 4

/** Milliseconds. */
const idleTime = 10_000

const threads = new Set<Thread>()
const waiting: Job[] = []
let program: string | undefined
let maxThreads: number | undefined

function endJob(thread: Thread, result: Result): void {
  const { job } = thread
  thread.job = undefined
  if (job === undefined) return
  if ('key' in result) job.resolve(result.key)
  else job.reject(new Error(`${job.call.name} failed: ${result.error}`))
}

function start(): Thread {
  program ??= threadProgram()
  const threadClass = modules().threads.Worker
  const thread: Thread = { worker: new threadClass(program, { eval: true }), job: undefined, end: undefined }
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
  maxThreads ??= Math.min(most, modules().os.availableParallelism())
  for (;;) {
    const free = [...threads].find(({ job }) => job === undefined)
    const job = free !== undefined || threads.size < maxThreads ? waiting.shift() : undefined
    if (job === undefined) break
    const thread = free ?? start()
    clearTimeout(thread.end)
    thread.end = undefined
    thread.job = job
    thread.worker.ref()
    thread.worker.postMessage(job.call)
  }
  for (const thread of threads) if (thread.job === undefined && thread.end === undefined) rest(thread)
}

/** Runs a function of hash-wasm in a thread, because each call takes up to seconds. */
export const callInThread = (call: HashCall): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    waiting.push({ call, resolve, reject })
    assign()
  })
