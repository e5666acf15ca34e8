import { describe, expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { event, output } from './log-output.ts'

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
    expect(out.isListening()).toBe(true)
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
    expect(out.isListening()).toBe(false)
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
    const log = createLog(out, { level: 'debug' })
    log.observe(event(more))
    log.flush()
    expect(out.lines.map((line) => JSON.parse(line).level)).toEqual([level])
  })
})
