import { type Caller, createCaller, type Outcome } from './caller.ts'

/** What came of a load. Times are in milliseconds. */
export interface LoadReport {
  readonly seconds: number
  readonly offered: number
  readonly answered: number
  /** Due, and never sent, because no connection was free: who waits outside, and gives up. */
  readonly heldBack: number
  /** How often each status, and each way in which a connection ended without one. */
  readonly statuses: Readonly<Record<string, number>>
  /** 503s that do not say when to come back. */
  readonly withoutRetryAfter: number
  /** Sent, and without an answer long after the end. */
  readonly hung: number
  readonly p50: number
  readonly p99: number
  /** Of one request, sent when all others were answered. */
  readonly recovery: number
}

export interface LoadOrder {
  readonly port: number
  /** Latin1. */
  readonly request: string
  readonly seconds: number
  /** Connections at once, at most. */
  readonly connections: number
  /** Requests a second that are sent whether others are answered or not; without it, each connection sends its next when it has an answer. */
  readonly rate?: number
}

/** Milliseconds after the load in which all that was sent must be answered. */
const patience = 15_000

const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

function createTally() {
  const statuses: Record<string, number> = {}
  const times: number[] = []
  let sent = 0
  let withoutRetryAfter = 0
  return {
    async ask(caller: Caller): Promise<void> {
      sent += 1
      const from = performance.now()
      const { status, saysWhen }: Outcome = await caller.ask()
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === 503 && !saysWhen) withoutRetryAfter += 1
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
    while (performance.now() < until) await tally.ask(caller)
  }
  await Promise.all(callers.map(run))
}

/** @returns how many were due and found no connection free until the end */
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
    void tally.ask(caller).then(() => {
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
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const late = performance.now() + patience
  while (open > 0 && performance.now() < late) await new Promise((resolve) => setTimeout(resolve, 5))
  return held
}

/** Puts a load on a server and tells what came of it. */
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
  const { status } = await last.ask()
  const recovery = status === 200 ? performance.now() - before : Number.POSITIVE_INFINITY
  last.end()
  return { ...tally.read(took, heldBack), recovery }
}
