import { type Caller, createCaller, type Outcome } from './caller.ts'

/** What came of a load. Times are in milliseconds, from the moment at which a request was due. */
export interface LoadReport {
  readonly seconds: number
  readonly offered: number
  readonly answered: number
  /** How often each status, and `reset`. */
  readonly statuses: Readonly<Record<string, number>>
  /** 503s that do not say when to come back. */
  readonly withoutRetryAfter: number
  /** Without an answer long after the end. */
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

/** Milliseconds after the last request was due in which all must be answered. */
const patience = 15_000

const quantile = (sorted: Float64Array, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

function createTally() {
  const statuses: Record<string, number> = {}
  const times: number[] = []
  let withoutRetryAfter = 0
  return {
    add({ status, saysWhen }: Outcome, due: number): void {
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === 503 && !saysWhen) withoutRetryAfter += 1
      if (status !== 'reset') times.push(performance.now() - due)
    },
    read(offered: number, seconds: number): Omit<LoadReport, 'recovery'> {
      const sorted = Float64Array.from(times).sort()
      const ended = Object.values(statuses).reduce((sum, count) => sum + count, 0)
      const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)]
      return { seconds, offered, answered: times.length, statuses, withoutRetryAfter, hung: offered - ended, p50, p99 }
    },
  }
}

type Tally = ReturnType<typeof createTally>

async function closedLoop(callers: readonly Caller[], until: number, tally: Tally): Promise<number> {
  let offered = 0
  const run = async (caller: Caller): Promise<void> => {
    while (performance.now() < until) {
      offered += 1
      const due = performance.now()
      tally.add(await caller.ask(), due)
    }
  }
  await Promise.all(callers.map(run))
  return offered
}

/** Requests come as they are due. One for which no connection is free waits here, and its time runs. */
async function openLoop(
  callers: readonly Caller[],
  rate: number,
  from: number,
  until: number,
  tally: Tally,
): Promise<number> {
  const free = [...callers]
  const held: number[] = []
  let next = 0
  let offered = 0
  let open = 0
  const send = (caller: Caller, due: number): void => {
    void caller.ask().then((outcome) => {
      tally.add(outcome, due)
      open -= 1
      const waiting = held[next]
      if (waiting === undefined) free.push(caller)
      else {
        next += 1
        send(caller, waiting)
      }
    })
  }
  while (performance.now() < until) {
    const due = Math.floor(((performance.now() - from) / 1000) * rate)
    for (; offered < due; offered += 1) {
      const at = from + (offered / rate) * 1000
      open += 1
      const caller = free.pop()
      if (caller === undefined) held.push(at)
      else send(caller, at)
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const late = performance.now() + patience
  while (open > 0 && performance.now() < late) await new Promise((resolve) => setTimeout(resolve, 5))
  return offered
}

/** Puts a load on a server and tells what came of it. */
export async function load({ port, request, seconds, connections, rate }: LoadOrder): Promise<LoadReport> {
  const bytes = Buffer.from(request, 'latin1')
  const callers = Array.from({ length: connections }, () => createCaller(port, bytes))
  const tally = createTally()
  const from = performance.now()
  const until = from + seconds * 1000
  const offered =
    rate === undefined ? await closedLoop(callers, until, tally) : await openLoop(callers, rate, from, until, tally)
  const took = (performance.now() - from) / 1000
  for (const caller of callers) caller.end()
  const last = createCaller(port, bytes)
  const before = performance.now()
  const { status } = await last.ask()
  const recovery = status === 200 ? performance.now() - before : Number.POSITIVE_INFINITY
  last.end()
  return { ...tally.read(offered, took), recovery }
}
