import { pause } from '../../test/support/pause.ts'
import { type Caller, createCaller, type Outcome } from './caller.ts'

/** The result of a load. Times are in milliseconds. */
export interface LoadReport {
  readonly seconds: number
  readonly offered: number
  readonly answered: number
  /** Requests that were due but never sent, because no connection was free. */
  readonly heldBack: number
  /** Counts by status, or by how a connection ended without a response. */
  readonly statuses: Readonly<Record<string, number>>
  /** 503 responses without `Retry-After`. */
  readonly withoutRetryAfter: number
  /** Requests without a response long after the end. */
  readonly hung: number
  readonly p50: number
  readonly p99: number
  /** Duration of one request that is sent after all others have completed. */
  readonly recovery: number
}

export interface LoadOrder {
  readonly port: number
  /** Latin1. */
  readonly request: string
  readonly seconds: number
  /** Maximum number of concurrent connections. */
  readonly connections: number
  /**
   * Requests per second, sent without waiting for responses. Without it, each connection sends its next request after a
   * response.
   */
  readonly rate?: number
}

/** Milliseconds after the load within which all requests must complete. */
const timeLimit = 15_000

const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

function createTally() {
  const statuses: Record<string, number> = {}
  const times: number[] = []
  let sent = 0
  let withoutRetryAfter = 0
  return {
    async send(caller: Caller): Promise<void> {
      sent += 1
      const from = performance.now()
      const { status, hasRetryAfter }: Outcome = await caller.send()
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === 503 && !hasRetryAfter) withoutRetryAfter += 1
      if (typeof status === 'number') times.push(performance.now() - from)
    },
    read(seconds: number, heldBack: number): Omit<LoadReport, 'recovery'> {
      const sorted = Float64Array.from(times).sort()
      const ended = Object.values(statuses).reduce((sum, count) => sum + count, 0)
      return {
        seconds,
        offered: sent + heldBack,
        heldBack,
        answered: times.length,
        statuses,
        withoutRetryAfter,
        hung: sent - ended,
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99),
      }
    },
  }
}

type Tally = ReturnType<typeof createTally>

async function closedLoop(callers: readonly Caller[], until: number, tally: Tally): Promise<void> {
  const run = async (caller: Caller): Promise<void> => {
    while (performance.now() < until) await tally.send(caller)
  }
  await Promise.all(callers.map(run))
}

/** @returns the number of requests that were due but found no free connection until the end */
async function openLoop(
  callers: readonly Caller[],
  rate: number,
  from: number,
  until: number,
  tally: Tally,
): Promise<number> {
  const free = [...callers]
  let [due, held, open] = [0, 0, 0]
  const send = (caller: Caller): void => {
    open += 1
    void tally.send(caller).then(() => {
      open -= 1
      if (held === 0 || performance.now() > until) {
        free.push(caller)
        return
      }
      held -= 1
      send(caller)
    })
  }
  while (performance.now() < until) {
    const now = Math.floor(((performance.now() - from) / 1000) * rate)
    for (; due < now; due += 1) {
      const caller = free.pop()
      if (caller === undefined) held += 1
      else send(caller)
    }
    await pause(2)
  }
  const late = performance.now() + timeLimit
  while (open > 0 && performance.now() < late) await pause(5)
  return held
}

/** Puts a load on a server and returns the result. */
export async function load({ port, request, seconds, connections, rate }: LoadOrder): Promise<LoadReport> {
  const bytes = Buffer.from(request, 'latin1')
  const callers = Array.from({ length: connections }, () => createCaller(port, bytes))
  const tally = createTally()
  const from = performance.now()
  const until = from + seconds * 1000
  let heldBack = 0
  if (rate === undefined) await closedLoop(callers, until, tally)
  else heldBack = await openLoop(callers, rate, from, until, tally)
  const took = (performance.now() - from) / 1000
  for (const caller of callers) caller.end()
  const last = createCaller(port, bytes)
  const before = performance.now()
  const { status } = await last.send()
  const recovery = status === 200 ? performance.now() - before : Number.POSITIVE_INFINITY
  last.end()
  return { ...tally.read(took, heldBack), recovery }
}
