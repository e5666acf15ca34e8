import { describe, expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
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

/** An output whose reader can be slow, gone, or a person. */
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

describe('a log that nobody takes', () => {
  test('holds a megabyte and no more, and says later how much is missing', async () => {
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
    expect(JSON.parse(notice)).toMatchObject({ level: 'warn', type: 'log_lines_dropped', count: log.dropped })
    expect(JSON.parse(line).type).toBe('client_authentication_failed')
    expect(await log.end(1000)).toBe(true)
  })

  test('does not hold up the end for longer than it is told', async () => {
    const out = output()
    const log = createLog(out)
    out.state.stalled = true
    log.observe(event())
    expect(await log.end(10)).toBe(false)
    // A failure that comes later must not end the process.
    expect(out.heard()).toBe(true)
  })

  test('whose reader is gone is not asked again', () => {
    const out = output()
    const log = createLog(out)
    out.state.failure = 'EPIPE'
    log.observe(event())
    out.state.failure = undefined
    log.observe(event())
    expect([out.lines, log.dropped]).toEqual([[], 2])
  })

  test('on a disk that was full goes on when there is room', async () => {
    const out = output()
    const log = createLog(out)
    out.state.failure = 'ENOSPC'
    log.observe(event())
    out.state.failure = undefined
    log.observe(event())
    expect(out.lines.map((line) => JSON.parse(line).type)).toEqual([
      'log_lines_dropped',
      'client_authentication_failed',
    ])
    expect(log.dropped).toBe(1)
    expect(await log.end(10)).toBe(true)
    expect(out.heard()).toBe(false)
  })
})

describe('a disk that stays full', () => {
  test('each line is counted once, however often the notice fails with it', () => {
    const out = output()
    const log = createLog(out)
    out.state.failure = 'ENOSPC'
    for (let count = 0; count < 100; count += 1) log.observe(event())
    expect(log.dropped).toBe(100)
    out.state.failure = undefined
    log.observe(event())
    expect(out.lines.map((line) => JSON.parse(line))).toMatchObject([{ type: 'log_lines_dropped', count: 100 }, {}])
    expect(log.dropped).toBe(100)
  })
})

describe('a line', () => {
  const hostile = 'a\u0000\u001B[31m\u007F\u009Bm\u2028\u202E\uD800\u{E0001}"\\\nb'

  test('of JSON is one line of printable characters, and says what came in', () => {
    const out = output()
    createLog(out).observe(event({ presentedClientId: hostile }))
    expect(out.lines).toHaveLength(1)
    expect(out.lines[0]).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
    expect(JSON.parse(out.lines[0] ?? '').presentedClientId).toBe(hostile)
  })

  test('for a person obeys no stranger, and leaves the ids out', () => {
    const out = output({ isTTY: true })
    createLog(out).observe(event({ presentedClientId: hostile, traceId: 'f'.repeat(32), duration: 1.23456789 }))
    expect(out.lines).toHaveLength(1)
    expect(out.lines[0]).toMatch(/^00:00:00 client_authentication_failed reason=client_unknown presentedClientId=/u)
    expect(out.lines[0]).not.toMatch(/[\p{Cc}\p{Cf}]|ffff/u)
  })

  test.each([
    ['a probe that got its answer', { type: 'request_answered', endpoint: 'health', status: 200 }, undefined],
    ['a scraper that got its page', { type: 'request_answered', endpoint: 'metrics', status: 200 }, undefined],
    ['a probe that says no', { type: 'request_answered', endpoint: 'health', status: 503 }, 'warn'],
    ['a path that is none', { type: 'request_answered', endpoint: 'unknown', status: 404 }, 'info'],
    ['a defect', { type: 'request_answered', endpoint: 'demo', status: 500 }, 'error'],
    ['a refusal', { type: 'endpoint_failed', endpoint: 'token', status: 400 }, 'info'],
    ['an outage', { type: 'endpoint_failed', endpoint: 'token', status: 503 }, 'error'],
    ['a replay', { type: 'refresh_reused' }, 'warn'],
    ['what must not happen', { type: 'unhandled_failure', cause: new Error('x') }, 'error'],
  ])('of %s', (_, more, level) => {
    const out = output()
    createLog(out).observe(event(more))
    expect(out.lines.map((line) => JSON.parse(line).level)).toEqual(level === undefined ? [] : [level])
  })
})
