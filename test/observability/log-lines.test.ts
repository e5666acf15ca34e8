import { describe, expect, test } from 'vitest'
import { createLog, isoTime } from '../../packages/server/src/log.ts'
import { event, output } from './log-output.ts'

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
    const log = createLog(out, { routeOf: (endpoint) => `/connect/${endpoint}` })
    log.observe(
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
    log.flush()
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
  const reported = (level: 'debug' | 'info' | 'warn' | 'error' | 'silent') => {
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
    expect(reported(level)).toEqual(lines)
  })
})
