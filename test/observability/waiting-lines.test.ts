// Lines wait for the end of a turn of the event loop, and events for the end of their request. Both are bounded.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import { authenticated, inRequest, issued, names, output, parsed, refused, succeeded } from './log-output.ts'

describe('lines of one turn of the event loop', () => {
  test('are written together, at most 4096 characters at a time and never a part of a line', async () => {
    const out = output()
    const log = createLog(out)
    const writes = vi.spyOn(out, 'write')
    for (let count = 0; count < 100; count += 1) log.observe(succeeded(`r${count}`))
    await new Promise(setImmediate)
    expect(out.lines).toHaveLength(100)
    expect(parsed(out.lines).map((line) => line['grantry.request_id'])).toEqual(
      Array.from({ length: 100 }, (_, count) => `r${count}`),
    )
    expect(writes.mock.calls.length).toBeLessThan(20)
    for (const [text] of writes.mock.calls) {
      expect(text.length).toBeLessThanOrEqual(4096)
      expect(text.endsWith('\n')).toBe(true)
    }
  })

  test('that the output does not accept are counted and reported, each once', () => {
    const out = output()
    const log = createLog(out)
    out.state.failure = 'ENOSPC'
    for (let count = 0; count < 100; count += 1) log.observe(succeeded(`r${count}`))
    log.flush()
    expect(log.dropped).toBe(100)
    out.state.failure = undefined
    log.observe(succeeded('s'))
    log.flush()
    expect(parsed(out.lines)).toMatchObject([
      { 'event.name': 'log_lines_dropped', 'grantry.count': 100 },
      { 'grantry.request_id': 's' },
    ])
    expect(log.dropped).toBe(100)
  })

  test('buffer at most a megabyte for a stalled reader', () => {
    const out = output()
    const log = createLog(out)
    out.state.stalled = true
    for (let count = 0; count < 20_000; count += 1) log.observe(succeeded(`r${count}`))
    log.flush()
    expect(out.state.writableLength).toBeLessThan(1_100_000)
    expect(log.dropped).toBe(20_000 - out.lines.length)
    expect(log.dropped).toBeGreaterThan(1000)
  })
})

describe('a request that does not end', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('has its events written as lines after ten seconds, with their own time', async () => {
    const out = output()
    const log = createLog(out)
    log.observe(inRequest('r', { type: 'client_authentication_succeeded', time: 1_800_000_000 }))
    vi.advanceTimersByTime(4000)
    log.observe(issued('s'))
    vi.advanceTimersByTime(6000)
    await new Promise(setImmediate)
    expect(parsed(out.lines)).toMatchObject([
      { 'event.name': 'client_authentication_succeeded', 'grantry.request_id': 'r', time: '2027-01-15T08:00:00.000Z' },
      { 'event.name': 'token_issued', 'grantry.request_id': 's' },
    ])
    // The rest follows with the end of the request.
    log.observe(succeeded('r'))
    log.flush()
    expect(names(out.lines).at(-1)).toBe('endpoint_succeeded')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('leaves no timer behind after it ends', () => {
    const log = createLog(output())
    log.observe(authenticated('r'))
    expect(vi.getTimerCount()).toBe(1)
    log.observe(succeeded('r'))
    vi.advanceTimersByTime(5000)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('has its events written when the log ends', async () => {
    const out = output()
    const log = createLog(out)
    log.observe(authenticated('r'))
    expect(await log.end(10)).toBe(true)
    expect(names(out.lines)).toEqual(['client_authentication_succeeded'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not fill the memory: the events of the oldest requests are written', () => {
    const out = output()
    const log = createLog(out)
    for (let count = 0; count < 5000; count += 1) log.observe(authenticated(`r${count}`))
    log.observe(refused('t'))
    expect(parsed(out.lines).map((line) => line['grantry.request_id'])).toEqual([
      ...Array.from({ length: 5000 - 4096 }, (_, count) => `r${count}`),
      't',
    ])
    log.flush()
    expect(new Set(parsed(out.lines).map((line) => line['grantry.request_id'])).size).toBe(5001)
  })
})
