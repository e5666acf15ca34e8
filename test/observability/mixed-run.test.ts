// The log and metrics of a real server after a mixed run are complete and contain no secrets.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { leaks } from './leaks.ts'
import { eventsIn, isLifecycle, isRequest, type LogLine, parseLog } from './log-lines.ts'
import { caller, hostileHeaders, hostileId, mixedRun } from './mixed-run.ts'
import { type Family, parsePrometheusText, type Sample } from './prometheus-text.ts'
import { createRecordingClient, type RecordingClient } from './recording-client.ts'
import { type ServerProcess, serverProcesses } from './server-process.ts'

const { newHome, start } = serverProcesses()
let server: ServerProcess
let http: RecordingClient
let page = ''
let printedAtStart = ''
let log: readonly LogLine[] = []
let events: readonly LogLine[] = []
let metrics: ReadonlyMap<string, Family> = new Map()

beforeAll(async () => {
  const home = newHome()
  server = await start({ home })
  printedAtStart = server.output.out
  http = createRecordingClient(server.address)
  await mixedRun(http, server.address, home)
  page = await (await fetch(`${server.address}/metrics`)).text()
  server.process.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  log = parseLog(server.output.err).filter((line) => !isLifecycle(line))
  events = eventsIn(log)
  metrics = parsePrometheusText(page)
})

const samples = (name: string): readonly Sample[] => metrics.get(name)?.samples ?? []
const sum = (name: string, labels: Readonly<Record<string, string>> = {}): number =>
  samples(name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((total, { value }) => total + value, 0)

function tally(items: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const item of [...items].sort()) counts[item] = (counts[item] ?? 0) + 1
  return counts
}

const ofType = (type: string): readonly LogLine[] => events.filter((line) => line.type === type)

describe('the log', () => {
  test('has exactly one line for each request except successful probes', () => {
    const reported = log
      .filter(isRequest)
      .map(({ endpoint, httpMethod, status }) => `${endpoint} ${httpMethod} ${status}`)
    const expected = http.requests
      .filter(({ endpoint, status }) => endpoint !== 'health' || status !== 200)
      .map(({ endpoint, method, status }) => `${endpoint} ${method} ${status}`)
    expect(tally(reported)).toEqual(tally(expected))
    expect(Object.keys(tally(reported)).length).toBeGreaterThan(20)
  })

  test('has the events of a request in its line, except warnings and errors', () => {
    const eventLines = log.filter((line) => !isRequest(line) && line.level === 'info')
    // Calls of the demo's login page are not requests to the provider, and those of plugins have no request.
    const calls = new Set(['authenticateUser', 'authorize', 'recordUser'])
    expect(new Set(eventLines.map(({ endpoint }) => endpoint))).toEqual(calls)
    expect(ofType('token_issued').length).toBeGreaterThan(10)
    expect(log.filter(({ type }) => type === 'token_issued')).toEqual([])
    const refreshed = log.filter((line) => line.events?.some((each) => each['event.name'] === 'refresh_rotated'))
    expect(refreshed.map(({ type, level }) => [type, level])).toEqual([
      ['endpoint_succeeded', 'info'],
      ['endpoint_succeeded', 'info'],
    ])
  })

  test('has a unique id for each request and each line', () => {
    const requests = log.filter(isRequest).map(({ requestId }) => requestId)
    expect(new Set(requests).size).toBe(requests.length)
    expect(new Set(log.map(({ id }) => id)).size).toBe(log.length)
    for (const line of log) expect(line.id.startsWith(`${line.requestId}.`)).toBe(true)
  })

  test('continues the trace of a caller with a new span, and no other trace', () => {
    const continued = log.filter(({ parentSpanId }) => parentSpanId !== undefined)
    expect(continued.map(({ endpoint, traceId, parentSpanId }) => ({ endpoint, traceId, parentSpanId }))).toEqual([
      { endpoint: 'discovery', traceId: caller.traceId, parentSpanId: caller.spanId },
    ])
    expect(continued[0]?.spanId).not.toBe(caller.spanId)
    expect(log.filter(({ traceId }) => traceId === caller.traceId)).toEqual(continued)
  })

  test('contains nothing from the headers of untrusted callers', () => {
    expect(hostileHeaders.length).toBeGreaterThan(5)
    for (const word of ['stranger', 'UPPER', 'and more', caller.traceId.toUpperCase()]) {
      expect(server.output.err).not.toContain(word)
      expect(page).not.toContain(word)
    }
  })

  test('contains the fingerprint instead of an id with control characters', () => {
    const fingerprint = createHash('sha256').update(hostileId).digest('hex').slice(0, 8)
    expect(log.filter(({ presentedFingerprint }) => presentedFingerprint === fingerprint)).not.toEqual([])
    expect(JSON.stringify(log)).not.toContain('evil')
    expect(log.filter(({ type }) => type === 'forged')).toEqual([])
  })

  test('has the right level for each event', () => {
    expect(new Set(ofType('client_authentication_failed').map(({ level }) => level))).toEqual(new Set(['warn']))
    expect(new Set(ofType('refresh_reused').map(({ level }) => level))).toEqual(new Set(['warn']))
    expect(ofType('unhandled_failure').map(({ level, reason }) => ({ level, reason }))).toEqual([
      { level: 'error', reason: 'storage_failed' },
    ])
    expect(new Set(ofType('endpoint_succeeded').map(({ level }) => level))).toEqual(new Set(['info']))
    const failures = ofType('endpoint_failed').filter(({ level }) => level === 'error')
    expect(failures.map(({ status }) => status)).toEqual([503])
    expect(log.filter(({ endpoint }) => endpoint === 'health').map(({ level, status }) => [level, status])).toEqual([
      ['warn', 503],
    ])
  })

  test('does not write to standard output after the start', () => {
    expect(server.output.out).toBe(printedAtStart)
  })
})

describe('the metrics', () => {
  test('count every request by endpoint, method and status', () => {
    const counted: Record<string, number> = {}
    for (const { labels, value } of samples('grantry_requests_total')) {
      const key = `${labels.endpoint} ${labels.method} ${labels.status}`
      counted[key] = (counted[key] ?? 0) + value
    }
    expect(counted).toEqual(
      tally(http.requests.map(({ endpoint, method, status }) => `${endpoint} ${method} ${status}`)),
    )
  })

  test('count refusals by the reason in the log', () => {
    const counted = samples('grantry_requests_total').flatMap(({ labels, value }) =>
      labels.reason === '' ? [] : Array.from({ length: value }, () => labels.reason ?? ''),
    )
    const reported = ofType('endpoint_failed').map(({ reason }) => String(reason))
    expect(tally(counted)).toEqual(tally(reported))
    expect(reported).toContain('plugin:badge:unknown_badge')
  })

  test('time every request by endpoint', () => {
    const byEndpoint = (end: string) =>
      Object.fromEntries(
        samples('grantry_request_duration_seconds')
          .filter(({ name }) => name.endsWith(end))
          .map(({ labels, value }) => [labels.endpoint, value]),
      )
    expect(byEndpoint('_count')).toEqual(tally(http.requests.map(({ endpoint }) => endpoint)))
    const logged = log.filter((line) => isRequest(line) && line.endpoint === 'token').map(({ duration }) => duration)
    const milliseconds = logged.reduce<number>((total, duration) => total + Number(duration), 0)
    expect(byEndpoint('_sum').token).toBeCloseTo(milliseconds / 1000, 3)
  })

  test('count every issued token, and the tokens of a retry once', () => {
    const names: Readonly<Record<string, string>> = { id_token: 'identity_token' }
    const issued: Record<string, number> = {}
    for (const { labels, value } of samples('grantry_tokens_issued_total')) {
      issued[labels.token_type ?? ''] = (issued[labels.token_type ?? ''] ?? 0) + value
    }
    // A retry gets the same response, whose tokens were issued before.
    const retries = ofType('refresh_retried').length
    expect(retries).toBe(2)
    const issuedFields = tally(http.tokens.map((name) => names[name] ?? name))
    const again = Object.fromEntries(
      Object.entries(issuedFields).map(([name, count]) => [name, count - (name in issued ? retries : 0)]),
    )
    expect(issued).toEqual(again)
    expect(sum('grantry_tokens_issued_total', { grant_type: 'urn:example:badge' })).toBe(1)
  })

  test('count failed authentications, replays and revocations like the log', () => {
    for (const [caller, type] of [
      ['client', 'client_authentication_failed'],
      ['user', 'user_authentication_failed'],
      ['scope', 'introspection_denied'],
    ] as const) {
      expect(sum('grantry_authentication_failures_total', { caller })).toBe(ofType(type).length)
      expect(ofType(type).length).toBeGreaterThan(0)
    }
    expect(sum('grantry_replays_total', { credential: 'refresh_token' })).toBe(2)
    expect(sum('grantry_replays_total', { credential: 'code' })).toBe(1)
    expect(sum('grantry_families_revoked_total')).toBe(ofType('family_revoked').length)
    expect(sum('grantry_tokens_revoked_total')).toBe(2)
    for (const { labels, value } of samples('grantry_events_total')) {
      if (labels.type !== 'request_answered')
        expect([labels.type, ofType(labels.type ?? '').length]).toEqual([labels.type, value])
    }
  })

  test('time storage operations, and count failed ones', () => {
    const counts = samples('grantry_storage_operation_duration_seconds').filter(({ name }) => name.endsWith('_count'))
    const operations = new Set(counts.map(({ labels }) => labels.operation))
    for (const operation of ['getItem', 'setItem', 'insertItem']) expect(operations).toContain(operation)
    expect(counts.filter(({ labels, value }) => labels.outcome === 'failed' && value > 0)).not.toEqual([])
    // The scrape can start a read of the key ring.
    expect(sum('grantry_storage_operations_in_flight')).toBeLessThanOrEqual(1)
  })

  test('include the process metrics', () => {
    expect(sum('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    expect(metrics.has('nodejs_eventloop_lag_seconds')).toBe(true)
    expect(samples('grantry_build_info')).toMatchObject([{ value: 1, labels: { version: '0.0.0' } }])
  })

  // Label values chosen by callers would fill the memory of the server and of Prometheus.
  test('have only label values from a fixed set', () => {
    const values = [...metrics.values()].flatMap((family) =>
      family.samples.flatMap(({ labels }) => Object.values(labels)),
    )
    for (const value of new Set(values)) expect(value).toMatch(/^[\w:.+-]*$/u)
    for (const id of ['alice', 'evil', 'demo-jwt', 'a-secret-in-no-query']) expect(page).not.toContain(id)
  })
})

test('neither log nor metrics contain a secret of the run in any encoding', () => {
  expect(http.secrets.size).toBeGreaterThan(30)
  expect(leaks(server.output.err, http.secrets)).toEqual([])
  expect(leaks(page, http.secrets)).toEqual([])
})

test('the search finds a secret in every encoding', () => {
  const secret = 'päss word/+='
  const base64 = Buffer.from(secret).toString('base64')
  for (const text of [secret, encodeURIComponent(secret), base64, 'p%C3%A4ss+word%2F%2B%3D']) {
    expect(leaks(`..${text}..`, [secret])).toEqual([secret])
  }
  for (const before of ['', 'a', 'ab', 'abc']) {
    const inside = Buffer.from(`${before}${secret}, and more`)
    expect(leaks(inside.toString('base64'), [secret])).toEqual([secret])
    expect(leaks(inside.toString('base64url'), [secret])).toEqual([secret])
  }
  expect(leaks('eyJh.signature', ['eyJx.payload.signature'])).toHaveLength(1)
})
