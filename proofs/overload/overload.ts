import { basic } from '@grantry/testing'
import { web } from '../../test/support/fixture.ts'
import { pause } from '../../test/support/pause.ts'
import type { Memory, OverloadKind } from './kinds.ts'
import type { LoadReport } from './load.ts'
import type { Processes } from './processes.ts'

/** Results for one kind of overload. */
export interface OverloadReport {
  readonly kind: OverloadKind
  /** Requests per second when each client waits for its response. */
  readonly capacity: number
  readonly load: LoadReport
  /** Memory after a forced garbage collection: before the load, in its middle, near its end, and after it. */
  readonly start: Memory
  readonly middle: Memory
  readonly late: Memory
  readonly end: Memory
  /** Peak RSS of the process in bytes. */
  readonly peak: number
  readonly warnings: string
}

const forms: Readonly<Record<OverloadKind, string>> = {
  memory: 'grant_type=client_credentials&scope=api1',
  'slow-store': 'grant_type=client_credentials&scope=api1',
  password: 'grant_type=password&username=alice&password=alice-password&scope=api1',
}

function requestOf(kind: OverloadKind): string {
  const form = forms[kind]
  const lines = [
    'POST /connect/token HTTP/1.1',
    'Host: id.example.com',
    `Authorization: ${basic(web)}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${form.length}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${form}`
}

/** Number of clients that saturates the server without filling a queue. */
const concurrency = 64
/** More than the default `maxRequests` of 1,000. */
const connections = 2000

/** Measures the capacity of the server, then sends twice as many requests for the given seconds without waiting. */
export async function overload(processes: Processes, kind: OverloadKind, seconds: number): Promise<OverloadReport> {
  const server = await processes.startServer(kind)
  try {
    const order = { port: server.port, request: requestOf(kind) }
    // Warm-up: a server is slower just after its start.
    await processes.load({ ...order, seconds: Math.min(1, seconds / 3), connections: concurrency })
    const measured = await processes.load({ ...order, seconds: Math.min(5, seconds / 4), connections: concurrency })
    const capacity = (measured.statuses[200] ?? 0) / measured.seconds
    const start = await server.collected()
    const loading = processes.load({ ...order, seconds, connections, rate: 2 * capacity })
    await pause(seconds * 500)
    const middle = await server.collected()
    await pause(seconds * 375)
    const late = await server.collected()
    const load = await loading
    const end = await server.collected()
    return { kind, capacity, load, start, middle, late, end, peak: server.peak(), warnings: server.warnings() }
  } finally {
    await server.stop()
  }
}
