import { describe, expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { isoTime } from '../../packages/server/src/observability/clock.ts'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'

const event = (more: object = {}) =>
  ({
    type: 'client_authentication_failed',
    reason: 'client_unknown',
    id: 'a.1',
    requestId: 'a',
    time: 0,
    ...more,
  }) as ServerEvent

/** An output with a slow reader, a closed reader or a terminal. */
function output({ isTTY = false } = {}) {
  const lines: string[] = []
  const pending: (() => void)[] = []
  let onError: ((error: Error) => void) | undefined
  const state = { stalled: false, failure: undefined as string | undefined, writableLength: 0 }
  return {
    lines,
    state,
    isTTY,
    get writableLength() {
      return state.writableLength
    },
    on(_: 'error', listener: (error: Error) => void) {
      onError = listener
    },
    off() {
      onError = undefined
    },
    heard: () => onError !== undefined,
    release() {
      state.stalled = false
      state.writableLength = 0
      for (const done of pending.splice(0)) done()
    },
    write(text: string, done: (error?: Error) => void = () => {}) {
      if (state.failure !== undefined) {
        const error = Object.assign(new Error(state.failure), { code: state.failure })
        done(error)
        onError?.(error)
        return
      }
      lines.push(...text.split('\n').slice(0, -1))
      if (!state.stalled) return done()
      state.writableLength += text.length
      pending.push(done)
    },
  }
}

describe('a log without a reader', () => {
  test('buffers at most a megabyte, and later reports how many lines were dropped', async () => {
    const out = output()
    const log = createLog(out)
    out.state.stalled = true
    for (let count = 0; count < 20_000; count += 1) log.observe(event())
    expect(out.state.writableLength).toBeLessThan(1_100_000)
    expect(log.dropped).toBe(20_000 - out.lines.length)
    expect(log.dropped).toBeGreaterThan(1000)
    const before = out.lines.length
    out.release()
    log.observe(event())
    const [notice = '', line = ''] = out.lines.slice(before)
    expect(JSON.parse(notice)).toMatchObject({
      level: 'warn',
      'event.name': 'log_lines_dropped',
      'grantry.count': log.dropped,
    })
    expect(JSON.parse(line)['event.name']).toBe('client_authentication_failed')
    expect(await log.end(1000)).toBe(true)
  })

  test('does not delay the end for longer than the given time', async () => {
    const out = output()
    const log = createLog(out)
    out.state.stalled = true
    log.observe(event())
    expect(await log.end(10)).toBe(false)
    // A later failure must not end the process.
    expect(out.heard()).toBe(true)
  })

  test('does not write again after its reader has closed', () => {
    const out = output()
    const log = createLog(out)
    out.state.failure = 'EPIPE'
    log.observe(event())
    out.state.failure = undefined
    log.observe(event())
    expect([out.lines, log.dropped]).toEqual([[], 2])
  })

  test('continues on a full disk when there is free space', async () => {
    const out = output()
    const log = createLog(out)
    out.state.failure = 'ENOSPC'
    log.observe(event())
    out.state.failure = undefined
    log.observe(event())
    expect(out.lines.map((line) => JSON.parse(line)['event.name'])).toEqual([
      'log_lines_dropped',
      'client_authentication_failed',
    ])
    expect(log.dropped).toBe(1)
    expect(await log.end(10)).toBe(true)
    expect(out.heard()).toBe(false)
  })
})

describe('a disk that stays full', () => {
  test('counts each dropped line once, even if the notice fails repeatedly', () => {
    const out = output()
    const log = createLog(out)
    out.state.failure = 'ENOSPC'
    for (let count = 0; count < 100; count += 1) log.observe(event())
    expect(log.dropped).toBe(100)
    out.state.failure = undefined
    log.observe(event())
    expect(out.lines.map((line) => JSON.parse(line))).toMatchObject([
      { 'event.name': 'log_lines_dropped', 'grantry.count': 100 },
      {},
    ])
    expect(log.dropped).toBe(100)
  })
})

describe('a log line', () => {
  const hostile = 'a\u0000\u001B[31m\u007F\u009Bm\u2028\u202E\uD800\u{E0001}"\\\nb'

  test('in JSON has only printable characters, and keeps the values', () => {
    const out = output()
    createLog(out).observe(event({ presentedClientId: hostile }))
    expect(out.lines).toHaveLength(1)
    expect(out.lines[0]).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
    expect(JSON.parse(out.lines[0] ?? '')['grantry.presented_client_id']).toBe(hostile)
  })

  test('in text has no control characters from callers, and omits the ids', () => {
    const out = output({ isTTY: true })
    createLog(out).observe(event({ presentedClientId: hostile, traceId: 'f'.repeat(32), duration: 1.23456789 }))
    expect(out.lines).toHaveLength(1)
    expect(out.lines[0]).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]{12}Z warn {2}client authentication failed: client_unknown presented_client_id=/u,
    )
    expect(out.lines[0]).not.toMatch(/[\p{Cc}\p{Cf}]|ffff/u)
  })

  test('for a person keeps a value in quotes that has a control character, so that it looks like one value', () => {
    const out = output({ isTTY: true })
    createLog(out).observe(event({ tenant: 'a\u001Bstatus\u001B200', idp: 'b\u202Ec' }))
    expect(out.lines[0]).toMatch(/ tenant="a\\u001bstatus\\u001b200" idp="b c"$/u)
  })

  test.each([
    ['a successful probe', { type: 'request_answered', endpoint: 'health', status: 200 }, 'debug'],
    ['a successful scrape', { type: 'request_answered', endpoint: 'metrics', status: 200 }, 'debug'],
    ['a failed probe', { type: 'request_answered', endpoint: 'health', status: 503 }, 'warn'],
    ['a path that is none', { type: 'endpoint_failed', endpoint: 'unknown', status: 404 }, 'info'],
    ['a defect', { type: 'request_answered', endpoint: 'demo', status: 500 }, 'error'],
    ['a refusal', { type: 'endpoint_failed', endpoint: 'token', status: 400 }, 'info'],
    ['an outage', { type: 'endpoint_failed', endpoint: 'token', status: 503 }, 'error'],
    ['a replay', { type: 'refresh_reused' }, 'warn'],
    ['an unhandled failure', { type: 'unhandled_failure', cause: new Error('x') }, 'error'],
  ])('for %s', (_, more, level) => {
    const out = output()
    createLog(out, { level: 'debug' }).observe(event(more))
    expect(out.lines.map((line) => JSON.parse(line).level)).toEqual([level])
  })
})

const first = (out: { readonly lines: readonly string[] }) => JSON.parse(out.lines[0] ?? 'null')

test.each([0, 999, 1000, 1_800_000_000_000, 1_800_000_000_001, 1_799_999_999_999, 1_800_000_000_010])(
  'formats %d milliseconds as ISO 8601',
  (milliseconds) => {
    expect(isoTime(milliseconds)).toBe(new Date(milliseconds).toISOString())
  },
)

describe('a JSON line', () => {
  test('has an ISO 8601 time with milliseconds, a level, a message and the field names of OpenTelemetry', () => {
    const out = output()
    const before = Date.now()
    createLog(out, { routeOf: (endpoint) => `/connect/${endpoint}` }).observe(
      event({
        type: 'endpoint_failed',
        endpoint: 'token',
        httpMethod: 'POST',
        status: 400,
        duration: 3.21678,
        error: 'invalid_grant',
        reason: 'token_unknown',
        description: 'The refresh token is not valid',
        clientId: 'web',
        sub: 'user-1',
        clientAddress: '198.51.100.7',
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
        parentSpanId: 'c'.repeat(16),
      }),
    )
    const line = first(out)
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u),
      level: 'info',
      msg: 'POST /connect/token 400 token_unknown',
      'event.name': 'endpoint_failed',
      'event.id': 'a.1',
      'grantry.request_id': 'a',
      'grantry.endpoint': 'token',
      'grantry.error': 'invalid_grant',
      'grantry.description': 'The refresh token is not valid',
      'grantry.client_id': 'web',
      'http.request.method': 'POST',
      'http.response.status_code': 400,
      'http.route': '/connect/token',
      'error.type': 'token_unknown',
      'user.id': 'user-1',
      'client.address': '198.51.100.7',
      duration_ms: 3.217,
      trace_id: 'a'.repeat(32),
      span_id: 'b'.repeat(16),
      parent_span_id: 'c'.repeat(16),
    })
    expect(Date.parse(line.time)).toBeGreaterThanOrEqual(before)
    expect(Object.keys(line).slice(0, 4)).toEqual(['time', 'level', 'msg', 'event.name'])
  })

  test.each([
    [
      'an error',
      new RangeError('out of reach'),
      { 'exception.type': 'RangeError', 'exception.message': 'out of reach' },
    ],
    [
      'a copy of an error',
      { name: 'RedisError', message: 'x' },
      { 'exception.type': 'RedisError', 'exception.message': 'x' },
    ],
    ['a string', 'just text', { 'exception.message': 'just text' }],
    ['nothing', undefined, { 'exception.message': 'undefined' }],
    ['an object without a message', { code: 1 }, { 'exception.message': '[object Object]' }],
  ])('contains what was thrown: %s', (_, cause, fields) => {
    const out = output()
    createLog(out).observe(event({ type: 'unhandled_failure', reason: 'storage_failed', cause }))
    expect(first(out)).toMatchObject({
      level: 'error',
      msg: `unhandled failure: storage_failed: ${fields['exception.message']}`,
      'error.type': 'storage_failed',
      ...fields,
    })
    expect(first(out)).not.toHaveProperty('cause')
  })

  test('has the text of a warning as its message', () => {
    const out = output()
    createLog(out).observe(event({ type: 'startup_warning', reason: 'keys_not_encrypted', message: 'Set a secret' }))
    expect(first(out)).toMatchObject({ msg: 'Set a secret', level: 'warn', 'grantry.reason': 'keys_not_encrypted' })
    expect(out.lines[0]?.match(/Set a secret/gu)).toHaveLength(1)
  })
})

describe('a format', () => {
  test('can be chosen, also on a terminal', () => {
    const [terminal, file] = [output({ isTTY: true }), output()]
    createLog(terminal, { format: 'json' }).observe(event())
    createLog(file, { format: 'text' }).observe(event({ grantType: 'two words', scopes: ['a', 'b'] }))
    expect(first(terminal)).toMatchObject({ level: 'warn' })
    expect(file.lines[0]).toMatch(/Z warn {2}client authentication failed: client_unknown /u)
    expect(file.lines[0]).toContain(' grant_type="two words" scopes=["a","b"]')
  })
})

describe('a level', () => {
  const told = (level: 'debug' | 'info' | 'warn' | 'error' | 'silent') => {
    const out = output()
    const log = createLog(out, { level })
    log.observe(event({ type: 'request_answered', endpoint: 'health', status: 200 }))
    log.observe(event({ type: 'endpoint_failed', endpoint: 'token', status: 400 }))
    log.observe(event())
    log.observe(event({ type: 'unhandled_failure', cause: new Error('x') }))
    log.write('info', 'server_listening', 'listening')
    return out.lines.map((line) => JSON.parse(line).level)
  }
  test.each([
    ['debug', ['debug', 'info', 'warn', 'error', 'info']],
    ['info', ['info', 'warn', 'error', 'info']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ] as const)('%s logs the levels %j', (level, lines) => {
    expect(told(level)).toEqual(lines)
  })
})
